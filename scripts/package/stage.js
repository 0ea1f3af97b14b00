/**
 * Makes what `npm pack` packs (its `prepack`): the programs with the files of packages that they load, under `packed`, and a
 * `package.json` for who installs it, which `restore.js` takes back. Nothing is left to be installed or compiled then.
 *
 * `KS_PACKAGE=portable` leaves the native modules out, to be compiled where the package is installed: one file for all
 * systems.
 */
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buildIfStale, ROOT } from '../build.js'
import { JOINED } from '../joined-packages.js'
import { innerManifest, NATIVE, outerManifest } from './manifest.js'
import { notices } from './notices.js'
import { KEPT, MANIFEST, NOTICES, PACKED, restore } from './restore.js'
import { filesBelow, neededFiles, packageFolder } from './trace.js'

/** the texts that `ks quickstart` makes a space of, and what the programs read beside their code */
const AS_THEY_ARE = ['README.md', 'LICENSE', 'oclif.manifest.json', 'bin', 'docs']
/** folders of `dist` that are not code of the programs */
const BUILT = ['console']
/** builds before it runs, for developers */
const FOR_DEVELOPERS = 'bin/dev.js'
/** tells who looks for a folder to install packages in that npm does not keep this one (`src/local/ocr-languages.ts`) */
const MARK = 'node_modules/.packed'

await stage(process.env.KS_PACKAGE === 'portable')

async function stage(isPortable) {
  restore()
  buildIfStale()
  if (!existsSync(join(ROOT, 'dist', 'bundle', 'ksd.js'))) throw new Error('the package is made of bundles; see above')
  try {
    const files = (await neededFiles()).filter(({ path }) => !isPortable || !isNative(path))
    for (const { path, from } of files) copy(from, path)
    for (const name of AS_THEY_ARE) copy(join(ROOT, name), name)
    for (const path of filesBelow(join(ROOT, 'dist', 'bundle')).filter(isKeptByV8)) copy(path, relative(ROOT, path))
    for (const name of BUILT.filter((one) => existsSync(join(ROOT, 'dist', one))))
      copy(join(ROOT, 'dist', name), `dist/${name}`)
    copy(join(ROOT, 'dist', 'man'), 'man')
    for (const path of filesBelow(PACKED).filter((one) => one.endsWith('.map'))) rmSync(path)
    rmSync(join(PACKED, FOR_DEVELOPERS))
    writeFileSync(join(PACKED, MARK), '')
    const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8'))
    writeJson(join(PACKED, 'package.json'), innerManifest(manifest, isPortable))
    writeFileSync(NOTICES, notices([...joinedPackages(), ...files.map(({ path }) => packageFolder(path))]))
    cpSync(MANIFEST, KEPT)
    writeJson(
      MANIFEST,
      outerManifest(
        manifest,
        isPortable,
        filesBelow(join(PACKED, 'man')).map((path) => relative(ROOT, path)),
      ),
    )
  } catch (error) {
    restore()
    throw error
  }
}

/** Packages whose code is part of the bundles; what builds another folder of `dist` may list its own in the same way. */
function joinedPackages() {
  const lists = filesBelow(join(ROOT, 'dist')).filter((path) => path.endsWith(JOINED))
  return lists.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')))
}

function copy(from, path) {
  const to = join(PACKED, path)
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, dereference: true })
  if (path.endsWith('.node')) chmodSync(to, 0o755)
}

function isNative(path) {
  return NATIVE.some((name) => path.startsWith(`node_modules/${name}/`))
}

function isKeptByV8(path) {
  return path.endsWith('.cache') || path.endsWith('package.json')
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`)
}
