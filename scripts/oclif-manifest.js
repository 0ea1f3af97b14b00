/**
 * Writes `oclif.manifest.json`: commands, flags and arguments as data, so that `ks` loads one command file in place of
 * all. Reads the compiled commands.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Config } from '@oclif/core'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MANIFEST = join(ROOT, 'oclif.manifest.json')

/** @returns {Promise<number>} how many commands there are */
export async function writeManifest() {
  rmSync(MANIFEST, { force: true })
  const config = await Config.load({ root: ROOT, ignoreManifest: true })
  const [plugin] = config.getPluginsList()
  writeFileSync(MANIFEST, `${JSON.stringify(plugin.manifest, null, 2)}\n`)
  return Object.keys(plugin.manifest.commands).length
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeManifest()
