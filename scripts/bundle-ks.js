/**
 * Joins the compiled modules of `ks` into one file that all commands share and a few for each of them, `dist/bundle/ks`.
 * They are CommonJS, which Node loads in half the time, and which takes what V8 compiled before (`code-cache.js`).
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { importsOfLoader, lazyBuiltins, lazyRequires } from './lazy-requires.js'
import { placesOfModules } from './places-of-modules.js'
import { toolsAsData } from './tools-as-data.js'

export const KS_BUNDLE = join(ROOT, 'dist', 'bundle', 'ks')
/** Packages that become part of the bundle, with all that they need; others stay packages. */
const INLINED =
  /^(@oclif\/core|cli-table3|string-width|p-limit|ignore|eventsource-parser|uuid|zod|@modelcontextprotocol\/(server|core))($|\/)/
/** What oclif would take for sources in TypeScript, which `ks` never runs. */
const NEVER = /^(typescript|ts-node|tsx)($|\/)/
/** what nearly every command needs, with all that it needs in turn */
const SHARED =
  /@oclif[\\/]core|rolldown[\\/]runtime|dist[\\/](cli[\\/](start|base-command|connect|output|common-flags|resources|resolve|columns|argument-words|stdin)|client[\\/](client|local-daemon|pages|routes|sse)|contract[\\/](limits|values))\.js$/
/** what the commands that ingest files have in common */
const INGEST = /dist[\\/]cli[\\/](ingest[\\/]|interrupt\.js|ensure-space\.js)/
const ENTRY = 'ks'

/**
 * @param {typeof import('rolldown').rolldown} rolldown
 * @returns {Promise<import('rolldown').OutputChunk[]>} the files of the bundle
 */
export async function bundleKs(rolldown) {
  rmSync(KS_BUNDLE, { recursive: true, force: true })
  mkdirSync(KS_BUNDLE, { recursive: true })
  const bundle = await rolldown({
    platform: 'node',
    input: { [ENTRY]: ENTRY },
    external: isApart,
    // what all commands share is loaded at once, also what a module asks for later
    checks: { ineffectiveDynamicImport: false },
    plugins: [
      entryModule(),
      smallValidator,
      toolsAsData,
      ownSourceMaps,
      lazyRequires(/@oclif[\\/]core[\\/]lib[\\/]/),
      placesOfModules(KS_BUNDLE, 'cjs'),
      lazyBuiltins,
      importsOfLoader,
    ],
  })
  const { output } = await bundle.write({
    dir: KS_BUNDLE,
    format: 'cjs',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    // as the modules are that it is made of
    strict: true,
    // V8 reads such a text as it is on disk
    charset: 'ascii',
    comments: false,
    codeSplitting: {
      groups: [
        { name: 'shared', test: SHARED, priority: 1 },
        { name: 'ingest', test: INGEST },
      ],
    },
  })
  await bundle.close()
  const main = output.find(({ isEntry }) => isEntry)?.fileName
  // the package itself is one of ES modules
  writeFileSync(join(KS_BUNDLE, 'package.json'), `${JSON.stringify({ type: 'commonjs', main })}\n`)
  return output
}

/** Whether a module stays a package. */
function isApart(id, importer) {
  if (NEVER.test(id)) return true
  return /^[^./\0]/.test(id) && id !== ENTRY && !INLINED.test(id) && importer?.includes('node_modules') !== true
}

/** Of what the compiler made, its own maps, so that a trace can name the sources. */
const ownSourceMaps = {
  name: 'own-source-maps',
  /** @param {string} id */
  load(id) {
    if (!id.startsWith(join(ROOT, 'dist'))) return undefined
    return { code: readFileSync(id, 'utf8'), map: JSON.parse(readFileSync(`${id}.map`, 'utf8')) }
  },
}

/**
 * The SDK of MCP brings two validators of what a client was asked for, which `ks mcp` never asks: of the two, the one that
 * loads at once. The larger one would be a third of what a session loads.
 */
const smallValidator = {
  name: 'small-validator',
  resolveId: (id) => (id === '@modelcontextprotocol/server/_shims' ? `\0${id}` : undefined),
  load: (id) =>
    id === '\0@modelcontextprotocol/server/_shims'
      ? [
          "export { default as process } from 'node:process'",
          "export { CfWorkerJsonSchemaValidator as DefaultJsonSchemaValidator } from '@modelcontextprotocol/server/validators/cf-worker'",
        ].join('\n')
      : undefined,
}

/** A module that knows all commands by their ids and loads the one that is asked for. */
function entryModule() {
  const path = `\0${ENTRY}`
  return {
    name: 'entry-of-ks',
    resolveId: (id) => (id === ENTRY ? path : undefined),
    load: (id) => (id === path ? entryText() : undefined),
  }
}

function entryText() {
  const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'))
  const lines = Object.values(commands).flatMap((command) => {
    const { id, aliases = [], hiddenAliases = [], args = {}, strict = true, relativePath } = command
    const names = Object.fromEntries(Object.keys(args).map((name) => [name, {}]))
    const load = `() => import(${JSON.stringify(join(ROOT, ...relativePath))})`
    const value = `{ id: ${JSON.stringify(id)}, strict: ${strict}, args: ${JSON.stringify(names)}, load: ${load} }`
    return [id, ...aliases, ...hiddenAliases].map((name) => `${JSON.stringify(name)}: ${value}`)
  })
  return [
    `import { start } from ${JSON.stringify(join(ROOT, 'dist', 'cli', 'start.js'))}`,
    `const commands = {\n${lines.join(',\n')}\n}`,
    'export { commands }',
    'export const main = (argv, root) => start(argv, root, commands)',
  ].join('\n')
}
