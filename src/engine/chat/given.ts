/** The entries of an object that have a value: optional then means absent. */
export function given<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined)
  // the same keys with the same values, less those without one
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> }
}
