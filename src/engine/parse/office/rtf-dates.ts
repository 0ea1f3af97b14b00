import type { Declared } from '../parsed.js'

/** The information group is near the start of a file, after fonts and styles. */
const HEAD = 1024 * 1024
const STAMP = /\\(creatim|revtim)((?:\\(?:yr|mo|dy|hr|min|sec)\d{1,4}){3,6})/g

/** Reads the dates of creation and last change from the information group. */
export function rtfDates(source: string): Declared {
  const declared: Declared = {}
  for (const [, kind, words = ''] of source.slice(0, HEAD).matchAll(STAMP)) {
    const part = (name: string): string =>
      new RegExp(`\\\\${name}(\\d{1,4})`).exec(words)?.[1]?.padStart(2, '0') ?? '00'
    const stamp = `${part('yr')}-${part('mo')}-${part('dy')}T${part('hr')}:${part('min')}`
    if (kind === 'creatim') declared.created ??= stamp
    else declared.modified ??= stamp
  }
  return declared
}
