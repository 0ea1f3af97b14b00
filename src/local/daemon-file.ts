import { rmSync } from 'node:fs'
import { readIfExists, writePrivateFile } from './private-file.js'

/** How the daemon was started: by the CLI on demand, manually, or by the service manager of the system. */
export type DaemonMode = 'auto' | 'manual' | 'service'

/**
 * What a running daemon publishes about itself. For information: clients trust it only after the instance has answered.
 */
export interface DaemonFile {
  instance: string
  pid: number
  url: string
  /** unix socket, in addition to the URL */
  socket?: string
  version: string
  startedAt: string
  mode: DaemonMode
  dataDir: string
}

export function writeDaemonFile(path: string, daemon: DaemonFile): void {
  writePrivateFile(path, `${JSON.stringify(daemon, null, 2)}\n`)
}

/** @returns `undefined` when there is no file or it has another form */
export function readDaemonFile(path: string): DaemonFile | undefined {
  try {
    const value: unknown = JSON.parse(readIfExists(path) ?? 'null')
    return isDaemonFile(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Removes the file if it still belongs to `instance`. */
export function removeDaemonFile(path: string, instance: string): void {
  if (readDaemonFile(path)?.instance === instance) rmSync(path, { force: true })
}

function isDaemonFile(value: unknown): value is DaemonFile {
  if (typeof value !== 'object' || value === null) return false
  const fields = new Map<string, unknown>(Object.entries(value))
  const texts = ['instance', 'url', 'version', 'startedAt', 'mode', 'dataDir']
  const socket = fields.get('socket')
  return (
    texts.every((name) => typeof fields.get(name) === 'string') &&
    Number.isInteger(fields.get('pid')) &&
    (socket === undefined || typeof socket === 'string')
  )
}
