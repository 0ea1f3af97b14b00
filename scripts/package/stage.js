/**
 * Prepares the package (`prepack` of npm): copies the programs, with the files that they load of other packages, to
 * `packed`, and replaces `package.json` until `restore.js` runs. The package needs no other packages and no compiler.
 *
 * `KS_PACKAGE=portable` omits the native modules, which are then compiled during the installation: one file for all
 * systems.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buildIfStale, listFiles, ROOT } from '../build.js'
import { BUNDLED_PACKAGES_FILE } from '../joined-packages.js'
import { buildNpmManifest, buildProgramManifest, NATIVE_PACKAGES } from './manifest.js'
import { buildNotices } from './notices.js'
import { MANIFEST, MANIFEST_COPY, NOTICES, PACKED, restore } from './restore.js'
import { findNeededFiles, getPackageFolder } from './trace.js'

/** Files and folders that are copied unchanged: `ks quickstart` ingests the documents, and the programs read the rest. */
const UNCHANGED = ['README.md', 'LICENSE', 'oclif.manifest.json', 'bin', 'docs']
/** Folders of `dist` that are not code of the programs. */
const BUILT = ['console']
/** Builds before it runs, for developers. */
const DEVELOPER_PROGRAM = 'bin/dev.js'
/** Marks a `node_modules` that npm does not maintain: no packages may be installed there (`src/local/ocr-languages.ts`). */
const PACKED_MARKER = 'node_modules/.packed'

await stage({ isPortable: process.env.KS_PACKAGE === 'portable' })

async function stage({ isPortable }) {
  restore()
  buildIfStale()
  if (!existsSync(join(ROOT, 'dist', 'bundle', 'ksd.js')))
    throw new Error('the package needs the bundles, which were not built: see above')
  try {
    const files = (await findNeededFiles()).filter(({ path }) => !isPortable || !isNative(path))
    for (const { path, source } of files) copy(source, path)
    for (const name of UNCHANGED) copy(join(ROOT, name), name)
    for (const path of listFiles(join(ROOT, 'dist', 'bundle')).filter(isLoadedFromDisk))
      copy(path, relative(ROOT, path))
    for (const name of BUILT.filter((folder) => existsSync(join(ROOT, 'dist', folder))))
      copy(join(ROOT, 'dist', name), `dist/${name}`)
    copy(join(ROOT, 'dist', 'man'), 'man')
    for (const path of listFiles(PACKED).filter((file) => file.endsWith('.map'))) rmSync(path)
    rmSync(join(PACKED, DEVELOPER_PROGRAM))
    writeFileSync(join(PACKED, PACKED_MARKER), '')
    const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'))
    writeJson(join(PACKED, 'package.json'), buildProgramManifest(manifest, { isPortable }))
    writeFileSync(NOTICES, buildNotices([...listBundledPackages(), ...files.map(({ path }) => getPackageFolder(path))]))
    cpSync(MANIFEST, MANIFEST_COPY)
    const man = listFiles(join(PACKED, 'man')).map((path) => relative(ROOT, path))
    writeJson(MANIFEST, buildNpmManifest(manifest, { isPortable, man }))
  } catch (error) {
    restore()
    throw error
  }
}

/** Packages whose code is part of a bundle, from the lists in all folders of `dist`. */
function listBundledPackages() {
  const lists = listFiles(join(ROOT, 'dist')).filter((path) => path.endsWith(BUNDLED_PACKAGES_FILE))
  return lists.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')))
}

/** @param path of the copy, below the folder of the package */
function copy(source, path) {
  const target = join(PACKED, path)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(source, target, { recursive: true, dereference: true })
  if (path.endsWith('.node')) chmodSync(target, 0o755)
}

function isNative(path) {
  return NATIVE_PACKAGES.some((name) => path.startsWith(`node_modules/${name}/`))
}

/** Whether a file of a bundle is read by `bin/bundle.js`, so that no import leads to it: compiled code, or a manifest. */
function isLoadedFromDisk(path) {
  return path.endsWith('.cache') || path.endsWith('package.json')
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`)
}
