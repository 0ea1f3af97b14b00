/**
 * Bundles the compiled modules of `ks` in `dist/bundle/ks`: one file that all commands share, and a few for each command.
 * They are CommonJS, which Node loads in half the time and with the code that V8 compiled earlier (`code-cache.js`).
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './build.js'
import { createLazyRequires, importsOfLoader, lazyBuiltins } from './lazy-requires.js'
import { keepModuleLocations } from './places-of-modules.js'
import { toolsAsData } from './tools-as-data.js'

const KS_BUNDLE = join(ROOT, 'dist', 'bundle', 'ks')
/** Packages that become part of the bundle, with their dependencies. */
const INLINED =
  /^(@oclif\/core|cli-table3|string-width|p-limit|ignore|eventsource-parser|uuid|zod|@modelcontextprotocol\/(server|core))($|\/)/
/** Packages with which oclif runs TypeScript; `ks` never does. */
const NEVER = /^(typescript|ts-node|tsx)($|\/)/
/** Modules that nearly every command needs, with their dependencies. */
const SHARED =
  /@oclif[\\/]core|rolldown[\\/]runtime|dist[\\/](cli[\\/](start|base-command|connect|output|common-flags|resources|resolve|columns|argument-words|stdin)|client[\\/](client|local-daemon|pages|routes|sse)|contract[\\/](limits|values))\.js$/
/** Modules that the commands share that ingest files. */
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
    external: isExternal,
    // a module of the shared file is loaded with it, even if it is only imported dynamically
    checks: { ineffectiveDynamicImport: false },
    plugins: [
      createEntryModule(),
      smallValidator,
      toolsAsData,
      compilerSourceMaps,
      createLazyRequires(/@oclif[\\/]core[\\/]lib[\\/]/),
      keepModuleLocations(KS_BUNDLE, 'cjs'),
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
    // the bundled modules are strict, too
    strict: true,
    // V8 reads ASCII without a conversion
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
  // the package itself has ES modules
  writeFileSync(join(KS_BUNDLE, 'package.json'), `${JSON.stringify({ type: 'commonjs', main })}\n`)
  return output
}

/** Whether a module is loaded from its package instead of being bundled. */
function isExternal(id, importer) {
  if (NEVER.test(id)) return true
  return /^[^./\0]/.test(id) && id !== ENTRY && !INLINED.test(id) && importer?.includes('node_modules') !== true
}

/** Gives the bundler the source maps of the compiler, so that stack traces name the sources. */
const compilerSourceMaps = {
  name: 'compiler-source-maps',
  /** @param {string} id */
  load(id) {
    if (!id.startsWith(join(ROOT, 'dist'))) return undefined
    return { code: readFileSync(id, 'utf8'), map: JSON.parse(readFileSync(`${id}.map`, 'utf8')) }
  },
}

/**
 * The MCP SDK has two validators for input that a server requests from its client, which `ks mcp` never does. This plugin
 * selects the small one: the other one would be a third of the code that a session loads.
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

/** Creates the plugin with the entry module, which knows all commands by id and loads the requested one. */
function createEntryModule() {
  const path = `\0${ENTRY}`
  return {
    name: 'ks-entry',
    resolveId: (id) => (id === ENTRY ? path : undefined),
    load: (id) => (id === path ? buildEntrySource() : undefined),
  }
}

function buildEntrySource() {
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
