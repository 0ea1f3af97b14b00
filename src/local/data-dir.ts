import { existsSync, mkdirSync, statfsSync } from 'node:fs'
import { KsError } from '../contract/errors.js'
import { type DataLayout, LAYOUT_VERSION, resolveDataLayout } from './layout.js'
import { createPrivateFile, readIfExists } from './private-file.js'
import { makePrivate, type OnRenamedAside } from './private-modes.js'

/** File systems with unreliable locks or renames, by the magic number of statfs(2). */
const NETWORK_FILE_SYSTEMS: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4283649346: 'CIFS',
  4266872130: 'SMB2',
  16914839: '9p',
}

/**
 * Ensures that a data directory exists, is readable by its owner only, and has a layout that this version supports.
 *
 * @throws KsError `unavailable` for a newer layout, a network file system, a VERSION file that is no number, or a link
 * or another user's file at a path of the directory
 */
export function prepareDataDir(
  root: string,
  options: { allowNetworkDisk: boolean; onRenamed?: OnRenamedAside },
): DataLayout {
  const layout = resolveDataLayout(root)
  mkdirSync(root, { recursive: true, mode: 0o700 })
  if (!options.allowNetworkDisk) refuseNetworkDisk(root)
  makePrivate(layout, options.onRenamed)
  for (const folder of [layout.runDir, layout.logsDir]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const versionText = existsSync(layout.version)
    ? (readIfExists(layout.version) ?? '')
    : createPrivateFile(layout.version, `${LAYOUT_VERSION}\n`)
  const version = /^\d{1,6}$/.test(versionText.trim()) ? Number(versionText) : undefined
  if (version === undefined)
    throw new KsError(
      'unavailable',
      `${layout.version} must hold a layout number, found ${JSON.stringify(versionText.slice(0, 40))}`,
    )
  if (version > LAYOUT_VERSION)
    throw new KsError(
      'unavailable',
      `the data directory ${root} has layout ${version}, this version knows up to ${LAYOUT_VERSION}: use a newer version`,
    )
  return layout
}

function refuseNetworkDisk(root: string): void {
  const kind = NETWORK_FILE_SYSTEMS[statfsSync(root).type >>> 0]
  if (kind === undefined) return
  throw new KsError(
    'unavailable',
    `the data directory ${root} is on a ${kind} file system, whose locks do not keep two daemons apart: choose a local disk, or set allowNetworkDisk`,
  )
}
