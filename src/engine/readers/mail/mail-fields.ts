import type { DeclaredFields } from '../parsed.js'

/** The fields of a message. @param from names and addresses as they are displayed */
export function toMailFields(date: string | undefined, from: string): DeclaredFields {
  const name = /^\s*"?([^"<]*[^"<\s])"?\s*</.exec(from.slice(0, 1000))?.[1]?.trim() ?? from.trim()
  return {
    ...(date === undefined || date === '' ? {} : { published: date }),
    ...(name === '' ? {} : { authors: [name] }),
  }
}
