import * as Flags from '@oclif/core/flags'
import { localPath } from './local-path.js'
import { FORMATS } from './output-format.js'

const GLOBAL = { helpGroup: 'COMMON' }

/** Flags of every command. */
export const commonFlags = {
  format: Flags.string({ ...GLOBAL, options: FORMATS, description: 'output format' }),
  json: Flags.boolean({ ...GLOBAL, description: 'same as --format json' }),
  'json-schema': Flags.boolean({
    ...GLOBAL,
    description: 'print the JSON Schema of the output with --json, without running the command',
  }),
  fields: Flags.string({ ...GLOBAL, helpValue: 'a,b.c', description: 'fields to show, in this order' }),
  jq: Flags.string({
    ...GLOBAL,
    helpValue: 'expr',
    description: 'jq expression for the JSON output; prints strings without quotes',
  }),
  template: Flags.string({ ...GLOBAL, helpValue: 'text', description: 'Mustache template for the JSON output' }),
  'no-header': Flags.boolean({ ...GLOBAL, description: 'omit the table header' }),
  'no-truncate': Flags.boolean({ ...GLOBAL, description: 'do not cut tables to the terminal width' }),
  context: Flags.string({ ...GLOBAL, helpValue: 'name', description: 'context to use' }),
  url: Flags.string({ ...GLOBAL, helpValue: 'url', description: 'address of the service' }),
  'token-file': Flags.string({ ...GLOBAL, ...localPath, helpValue: 'file', description: 'file with the access token' }),
  yes: Flags.boolean({ ...GLOBAL, char: 'y', description: 'answer yes to every question' }),
  'no-input': Flags.boolean({ ...GLOBAL, description: 'never prompt' }),
  quiet: Flags.boolean({ ...GLOBAL, char: 'q', description: 'print only results and errors' }),
  verbose: Flags.boolean({ ...GLOBAL, char: 'v', description: 'print the service and space in use on stderr' }),
  debug: Flags.boolean({ ...GLOBAL, description: 'print request lines, trace ids and stacks on stderr' }),
  timeout: Flags.string({ ...GLOBAL, helpValue: '30s', description: 'time limit of the command' }),
  'no-autostart': Flags.boolean({ ...GLOBAL, description: 'fail instead of starting the local daemon' }),
  'no-pager': Flags.boolean({ ...GLOBAL, description: 'never use a pager' }),
  color: Flags.boolean({ ...GLOBAL, allowNo: true, description: 'force colours on or off' }),
}

/** `-s, --space` of commands that work in a space. */
export const spaceFlag = {
  space: Flags.string({ char: 's', helpValue: 'slug|id', description: 'space to use' }),
}

/** `--space` and `--all-spaces` of commands that can search several spaces at once. */
export const spacesFlags = {
  space: Flags.string({
    char: 's',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'slug|id',
    description: 'space to use; repeatable',
  }),
  'all-spaces': Flags.boolean({ description: 'use every space', exclusive: ['space'] }),
}

/** `--doc` of commands that can be limited to some documents. */
export const docFlag = {
  doc: Flags.string({
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'path|id',
    description: "only these documents; a path may have patterns, such as 'ops/*'; repeatable",
  }),
}

/** `-o, --output` of commands that can write their result to a file. */
export const outputFlag = {
  output: Flags.string({
    char: 'o',
    aliases: ['out'],
    ...localPath,
    helpValue: 'file',
    description: 'file to write (default: stdout)',
  }),
}

/** `--wait` of commands that start work in the background; `--follow` works, too. */
export function waitFlag(description: string, options: { dependsOn?: string[] } = {}) {
  return { wait: Flags.boolean({ aliases: ['follow'], description, ...options }) }
}

export const DEFAULT_LIST_LIMIT = 50

export const listFlags = {
  limit: Flags.integer({
    char: 'n',
    min: 1,
    helpValue: 'n',
    description: `maximum number of items (default ${DEFAULT_LIST_LIMIT} at a terminal, else all)`,
  }),
  all: Flags.boolean({ description: 'list everything', exclusive: ['limit'] }),
  cursor: Flags.string({ helpValue: 'cursor', description: 'continue after this cursor of an earlier list' }),
}
