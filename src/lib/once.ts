/** Makes something when it is first asked for, and keeps it: what takes a while and many runs never need. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}
