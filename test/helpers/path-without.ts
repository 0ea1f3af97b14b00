import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Creates a folder for PATH with links to all installed programs except some. */
export function createPathWithout(programs: readonly string[], folder: string): string {
  mkdirSync(folder)
  const seen = new Set(programs)
  for (const source of (process.env.PATH ?? '').split(delimiter).filter(isAbsolute))
    for (const name of listNames(source)) {
      if (seen.has(name)) continue
      seen.add(name)
      symlinkSync(join(source, name), join(folder, name))
    }
  return folder
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
