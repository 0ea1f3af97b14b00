import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { execaSync } from 'execa'
import { ROOT } from '../daemon.js'

const FOLDER = join(ROOT, 'bench')

/** Installs the engines to compare with, when they are not there: more than 200 MB that nobody else needs. */
export function installPeers(): void {
  if (existsSync(join(FOLDER, 'node_modules', '@lancedb', 'lancedb', 'package.json'))) return
  process.stderr.write('installing the engines to compare with into bench/node_modules ...\n')
  // not `npm ci`, which asks for the packages of every platform, and registries do not hold all of them
  const args = ['install', '--no-save', '--no-audit', '--no-fund']
  const { failed } = execaSync('npm', args, { cwd: FOLDER, stdio: ['ignore', 2, 2], reject: false })
  if (failed) throw new Error('the engines to compare with cannot be installed')
}

/** Loads a package of `bench/package.json`. */
export function requirePeer(name: string) {
  return createRequire(join(FOLDER, 'package.json'))(name)
}
