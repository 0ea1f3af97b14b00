import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Mode of new files, since they may contain secrets; existing files keep their mode. */
const PRIVATE_MODE = 0o600

/** Writes a file of another program, after copying its old content to a backup. @returns the path of the backup */
export function writeWithBackup(file: { path: string; text: string; isNew: boolean }): string | undefined {
  const { path, text, isNew } = file
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const backup = isNew ? undefined : findFreeName(path)
  if (backup !== undefined) copyFileSync(path, backup)
  const draft = `${path}.ks-${process.pid}`
  try {
    writeFileSync(draft, text, { mode: PRIVATE_MODE, flag: 'wx' })
    if (!isNew) chmodSync(draft, statSync(path).mode & 0o777)
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  return backup
}

function findFreeName(path: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  for (let count = 0; ; count++) {
    const name = `${path}.backup-${stamp}${count === 0 ? '' : `-${count}`}`
    if (!existsSync(name)) return name
  }
}
