import type { KsError } from '../../../contract/errors.js'
import type { ProgramSetting } from '../../../local/provider-setting.js'

export type PlaceholderValues = Partial<Record<'input' | 'output' | 'voice' | 'language' | 'model', string>>

const KNOWN_PLACEHOLDERS = ['input', 'output', 'voice', 'language', 'model']

/** @throws KsError `invalid-request` */
export function checkProgram({ argv, convert }: ProgramSetting, createError: (rule: string) => KsError): void {
  for (const [name, args] of [['argv', argv] as const, ['convert', convert] as const]) {
    if (args === undefined) continue
    if (!args[0]) throw createError(`${name} must start with the path of a program`)
    if (args.some((arg) => arg.includes('\0'))) throw createError(`${name} must not contain NUL characters`)
    const unknown = args
      .join(' ')
      .match(/\{(\w+)\}/g)
      ?.find((placeholder) => !KNOWN_PLACEHOLDERS.includes(placeholder.slice(1, -1)))
    if (unknown !== undefined)
      throw createError(`${name} contains ${unknown}; known placeholders: {${KNOWN_PLACEHOLDERS.join('}, {')}}`)
  }
  if (convert !== undefined && !(hasPlaceholder(convert, 'input') && hasPlaceholder(convert, 'output')))
    throw createError('convert must contain {input} and {output}')
}

export function hasPlaceholder(argv: readonly string[], name: keyof PlaceholderValues): boolean {
  return argv.some((arg) => arg.includes(`{${name}}`))
}

/** Replaces placeholders. Each value stays within its argument, whatever characters it has. */
export function fillPlaceholders(argv: readonly string[], values: PlaceholderValues): string[] {
  const known = new Map<string, string>(Object.entries(values))
  return argv.map((arg) => arg.replace(/\{(\w+)\}/g, (placeholder, name: string) => known.get(name) ?? placeholder))
}
