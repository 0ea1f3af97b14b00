import { dirname, join, parse } from 'node:path'
import { textOf } from '../lib/json/values.js'
import { readIfExists } from '../local/private-file.js'
import { parseJsonObject } from './json-file.js'

/**
 * `.ks.json` of a project, found upwards from the working directory. A cloned repository is not trusted: it may name
 * a space, one of the user's own contexts, a mode and what ingest leaves out. It can send no token anywhere and widen
 * no ingest.
 */
export interface ProjectFile {
  path: string
  space?: string
  context?: string
  mode?: string
  ignore: string[]
  /** keys that have no effect */
  unknown: string[]
}

export const PROJECT_FILE = '.ks.json'

const KNOWN = new Set(['space', 'context', 'mode', 'ignore'])

/** @returns undefined where no folder up to the root has one. @throws CliError exit 2 for a file that is not JSON */
export function findProjectFile(from: string): ProjectFile | undefined {
  const { root } = parse(from)
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, PROJECT_FILE)
    const text = readIfExists(path)
    if (text !== undefined) return parseProjectFile(path, text)
    if (folder === root) return undefined
  }
}

function parseProjectFile(path: string, text: string): ProjectFile {
  const value = parseJsonObject(path, text)
  const file: ProjectFile = {
    path,
    // A leading `!` would take back what .gitignore leaves out.
    ignore: (Array.isArray(value.ignore) ? value.ignore : []).filter(
      (rule) => typeof rule === 'string' && !rule.trimStart().startsWith('!'),
    ),
    unknown: Object.keys(value).filter((key) => !KNOWN.has(key)),
  }
  const [space, context, mode] = [textOf(value.space), textOf(value.context), textOf(value.mode)]
  if (space !== undefined) file.space = space
  if (context !== undefined) file.context = context
  if (mode !== undefined) file.mode = mode
  return file
}
