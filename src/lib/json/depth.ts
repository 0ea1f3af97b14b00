/** Whether JSON is nested deeper than `maxDepth` levels. Later recursion over such a value would overflow the stack. */
export function nestsDeeperThan(json: string, maxDepth: number): boolean {
  let depth = 0
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === 0x22) index = findStringEnd(json, index)
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x5d || code === 0x7d) depth--
  }
  return false
}

/**
 * Whether the arrays and objects of JSON have more than `max` members. Each parsed member takes many times its text.
 */
export function hasMoreValuesThan(json: string, max: number): boolean {
  let values = 0
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === 0x22) index = findStringEnd(json, index)
    else if ((code === 0x5b || code === 0x7b || code === 0x2c) && ++values > max) return true
  }
  return false
}

/** @param start index of the opening quote. @returns index of the closing quote, or an index after the end */
function findStringEnd(json: string, start: number): number {
  for (let index = start + 1; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === 0x5c) index++
    else if (code === 0x22) return index
  }
  return json.length
}
