import type { KsError } from '../../../contract/errors.js'
import type { ProgramSetting } from '../../../local/provider-setting.js'

export type PlaceholderValues = Partial<Record<'input' | 'output' | 'voice' | 'language' | 'model', string>>

const KNOWN_PLACEHOLDERS = ['input', 'output', 'voice', 'language', 'model']

/** @throws KsError `invalid-request` */
export function checkProgram({ argv, convert }: ProgramSetting, refuse: (rule: string) => KsError): void {
  for (const [name, words] of [['argv', argv] as const, ['convert', convert] as const]) {
    if (words === undefined) continue
    if (words[0] === undefined || words[0] === '') throw refuse(`${name} must start with the path of a program`)
    if (words.some((word) => word.includes('\0'))) throw refuse(`${name} must not contain NUL characters`)
    const unknown = words
      .join(' ')
      .match(/\{(\w+)\}/g)
      ?.find((word) => !KNOWN_PLACEHOLDERS.includes(word.slice(1, -1)))
    if (unknown !== undefined)
      throw refuse(`${name} contains ${unknown}; known placeholders: {${KNOWN_PLACEHOLDERS.join('}, {')}}`)
  }
  if (convert !== undefined && !(hasPlaceholder(convert, 'input') && hasPlaceholder(convert, 'output')))
    throw refuse('convert must contain {input} and {output}')
}

export function hasPlaceholder(argv: readonly string[], name: keyof PlaceholderValues): boolean {
  return argv.some((word) => word.includes(`{${name}}`))
}

/** Replaces placeholders. Each value stays within its argument, whatever characters it has. */
export function fillPlaceholders(argv: readonly string[], values: PlaceholderValues): string[] {
  const known = new Map<string, string>(Object.entries(values))
  return argv.map((word) => word.replace(/\{(\w+)\}/g, (placeholder, name: string) => known.get(name) ?? placeholder))
}
