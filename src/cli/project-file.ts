import { dirname, join, parse } from 'node:path'
import { textOf } from '../lib/json/values.js'
import { readIfExists } from '../local/private-file.js'
import { parseJsonObject } from './json-file.js'

/**
 * `.ks.json` of a project, found in the working directory or its ancestors. A cloned repository is not trusted: it may
 * set a space, one of the user's own contexts, a mode and files that ingest excludes, but never an address or token,
 * and it cannot add files to an ingest.
 */
export interface ProjectFile {
  path: string
  space?: string
  context?: string
  mode?: string
  ignore: string[]
  /** Keys without effect. */
  unknown: string[]
}

export const PROJECT_FILE = '.ks.json'

const KNOWN = new Set(['space', 'context', 'mode', 'ignore'])

/** @returns undefined if no folder up to the root has one. @throws CliError exit 2 for a file that is not JSON */
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
    // A leading `!` would include files that .gitignore excludes.
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
