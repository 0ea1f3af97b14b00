/**
 * Writes `oclif.manifest.json` from the compiled commands: their flags and arguments as data, so that `ks` loads one
 * command file instead of all. Flags of every command are omitted, because the file is parsed at each start; the help adds
 * them again.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Config } from '@oclif/core'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const MANIFEST = join(ROOT, 'oclif.manifest.json')

async function writeManifest() {
  rmSync(MANIFEST, { force: true })
  const config = await Config.load({ root: ROOT, ignoreManifest: true })
  const [plugin] = config.getPluginsList()
  const { commonFlags } = await import('../dist/cli/common-flags.js')
  for (const command of Object.values(plugin.manifest.commands)) {
    for (const name of Object.keys(commonFlags)) delete command.flags[name]
  }
  writeFileSync(MANIFEST, `${JSON.stringify(plugin.manifest)}\n`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeManifest()
