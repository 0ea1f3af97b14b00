/** Indices in a list of hits where the next step differs: another operation, or another kind of file. */
export function steps(hits: string[]): number[] {
  const kinds = hits.map((hit) => {
    const [operation = '', , path = ''] = hit.split(' ')
    return `${operation} ${path.replace(/[0-9a-f-]{8,}/g, '*').replace(/\.\d+\.[*\w]+\.tmp$/, '.tmp')}`
  })
  return kinds.flatMap((kind, place) => (kind === kinds[place - 1] ? [] : [place]))
}

/** A number of elements spread over a list, from a random start; all if there are no more. */
export function spread<T>(list: T[], count: number, random: () => number): T[] {
  if (list.length <= count) return list
  const first = random()
  return Array.from({ length: count }, (_, place) => list[Math.floor(((place + first) * list.length) / count)]!)
}
