/** Describes the corrections of a query: `also searched for “battery alarm” (asked: “batery alrm”)`. */
export function formatCorrections(words: readonly { asked: string; searched: string }[]): string {
  const corrections = [...new Set(words.map((word) => word.asked))].join(' ')
  return `also searched for “${words.map(({ searched }) => searched).join(' ')}” (asked: “${corrections}”)`
}
