/**
 * Writes `oclif.manifest.json`: commands, flags and arguments as data, so that `ks` loads one command file in place of
 * all. Reads the compiled commands. The flags that every command takes are left out: the file is parsed at each start,
 * and the help adds them again.
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
  const { commonFlags } = await import('../dist/cli/common-flags.js')
  for (const command of Object.values(plugin.manifest.commands)) {
    for (const name of Object.keys(commonFlags)) delete command.flags[name]
  }
  writeFileSync(MANIFEST, `${JSON.stringify(plugin.manifest)}\n`)
  return Object.keys(plugin.manifest.commands).length
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeManifest()
