/**
 * All mutants of a file in one text. Which of them is active is asked at run time, so a file is compiled once for all of
 * them, and what asks says which were reached.
 *
 * @typedef {import('./mutants.js').Mutant} Mutant
 */

/** the function that a run defines before any file of it is loaded */
export const SWITCH = '__mutant'

/**
 * @param {string} code
 * @param {readonly Mutant[]} mutants of this code
 * @param {number} first number of the first of them; the others follow
 */
export function instrument(code, mutants, first) {
  const places = new Map()
  mutants.forEach((mutant, index) => {
    const place = `${mutant.start}-${mutant.end}-${mutant.isStatement}`
    places.set(place, [...(places.get(place) ?? []), { ...mutant, id: first + index }])
  })
  // outer places before those inside of them
  const ordered = [...places.values()].sort(
    ([a], [b]) => a.start - b.start || b.end - a.end || Number(b.isStatement) - Number(a.isStatement),
  )
  return written(code, 0, code.length, ordered)
}

/** The text from `start` to `end`, with the places in it instrumented. */
function written(code, start, end, places) {
  let text = ''
  let at = start
  for (let n = 0; n < places.length; ) {
    const [outer] = places[n]
    const inside = places.slice(n + 1).filter(([one]) => one.start >= outer.start && one.end <= outer.end)
    text += code.slice(at, outer.start) + switched(code, places[n], inside)
    at = outer.end
    n += 1 + inside.length
  }
  return text + code.slice(at, end)
}

function switched(code, [first, ...others], inside) {
  const original = written(code, first.start, first.end, inside)
  // in braces of its own, so that an `else` behind it stays with the `if` that it belongs to
  if (first.isStatement) return `{ if (!${SWITCH}(${first.id})) { ${original} } }`
  // on lines of its own where it holds any: a comment at the end of one would swallow what follows
  const text = [first, ...others].reduceRight(
    (rest, { id, text: wrong }) => `${SWITCH}(${id}) ? (${wrong}) : ${rest}`,
    `(${original})`,
  )
  return `(${text})`
}
