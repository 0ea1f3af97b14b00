/** Places in a list of hits at which another step begins: another operation, or one on another kind of file. */
export function steps(hits: string[]): number[] {
  const kinds = hits.map((hit) => {
    const [operation = '', , path = ''] = hit.split(' ')
    return `${operation} ${path.replace(/[0-9a-f-]{8,}/g, '*').replace(/\.\d+\.[*\w]+\.tmp$/, '.tmp')}`
  })
  return kinds.flatMap((kind, place) => (kind === kinds[place - 1] ? [] : [place]))
}

/** So many of a list, spread over it, beginning at a place that `random` chooses; all where there are no more. */
export function spread<T>(list: T[], count: number, random: () => number): T[] {
  if (list.length <= count) return list
  const first = random()
  return Array.from({ length: count }, (_, place) => list[Math.floor(((place + first) * list.length) / count)]!)
}
