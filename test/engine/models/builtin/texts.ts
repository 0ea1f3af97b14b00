/** Small corpora with topics: every text mixes the words of one topic. */
const TOPICS = [
  'engine piston valve cylinder fuel torque crankshaft exhaust',
  'protein enzyme membrane receptor antibody genome mutation tissue',
  'sonata violin orchestra melody rhythm concerto harmony tempo',
  'glacier river canyon erosion sediment valley plateau volcano',
].map((words) => words.split(' '))

/** `count` texts, from the four topics in turn; always the same. */
export function topicTexts(count: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const words = TOPICS[i % TOPICS.length] ?? []
    return Array.from({ length: 6 }, (_, j) => words[(i * 7 + j * j * 3 + Math.floor(i / 4)) % words.length]).join(' ')
  })
}
