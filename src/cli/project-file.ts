import { dirname, join, parse } from 'node:path'
import { toNonEmptyString } from '../lib/json/values.js'
import { omitUndefined } from '../lib/omit-undefined.js'
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

const KNOWN_PROJECT_KEYS = new Set(['space', 'context', 'mode', 'ignore'])

/** @returns undefined if no folder up to the root has one. @throws CliError exit 2 for a file that is not JSON */
export function findProjectFile(startFolder: string): ProjectFile | undefined {
  const { root } = parse(startFolder)
  for (let folder = startFolder; ; folder = dirname(folder)) {
    const path = join(folder, PROJECT_FILE)
    const text = readIfExists(path)
    if (text !== undefined) return parseProjectFile(path, text)
    if (folder === root) return undefined
  }
}

function parseProjectFile(path: string, text: string): ProjectFile {
  const value = parseJsonObject(path, text)
  return {
    path,
    ...omitUndefined({
      space: toNonEmptyString(value.space),
      context: toNonEmptyString(value.context),
      mode: toNonEmptyString(value.mode),
    }),
    // A leading `!` would include files that .gitignore excludes.
    ignore: (Array.isArray(value.ignore) ? value.ignore : []).filter(
      (rule) => typeof rule === 'string' && !rule.trimStart().startsWith('!'),
    ),
    unknown: Object.keys(value).filter((key) => !KNOWN_PROJECT_KEYS.has(key)),
  }
}
