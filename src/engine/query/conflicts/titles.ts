/** Words of a title, in lower case. */
export function titleWords(title: string): string[] {
  return title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** `Manual of Atlas` and `Manual of Borealis`: the same title but for a word. */
export function areParallel(one: readonly string[], two: readonly string[]): boolean {
  if (one.length < 2 || one.length !== two.length) return false
  return one.filter((word, place) => word !== two[place]).length === 1
}
