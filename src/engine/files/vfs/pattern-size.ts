/**
 * Estimates the number of instructions that a regular expression compiles to: one for each character or class, times
 * the repeats `{n,m}` of its groups. The estimate is cheap, while compiling a pattern of 4,000 characters can take
 * seconds.
 */
export function estimatePatternSize(pattern: string): number {
  const groups: number[] = []
  let size = 0
  let last = 0
  for (let index = 0; index < pattern.length; ) {
    const character = pattern[index]
    if (character === '(') {
      groups.push(size)
      size = 0
      last = 0
      index += 1
      continue
    }
    if (character === ')') {
      last = size + 2
      size = (groups.pop() ?? 0) + last
      index += 1
      continue
    }
    const repeat = character === '{' ? REPEAT.exec(pattern.slice(index, index + MAX_REPEAT_LENGTH)) : null
    if (repeat !== null) {
      const times = Math.max(Number(repeat[1]), Number(repeat[2] ?? 0), 1)
      size += last * (times - 1)
      last *= times
      index += repeat[0].length
      continue
    }
    index += measureAtomLength(pattern, index)
    last = 1
    size += 1
  }
  return size + groups.reduce((sum, open) => sum + open, 0)
}

const REPEAT = /^\{(\d+)(?:,(\d*))?\}/
const MAX_REPEAT_LENGTH = 24

function measureAtomLength(pattern: string, index: number): number {
  if (pattern[index] === '\\') return 2
  if (pattern[index] !== '[') return 1
  // a bracket right after the opening one, or after `^`, is a member of the class
  let end = index + (pattern[index + 1] === '^' ? 2 : 1) + 1
  while (end < pattern.length && pattern[end] !== ']') end += pattern[end] === '\\' ? 2 : 1
  return end + 1 - index
}
