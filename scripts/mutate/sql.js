/**
 * Small wrong changes of SQL text. Only those that leave the number of parameters as it was: a statement that cannot run
 * at all is found by any test.
 */

const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|EXISTS)\b|\b(WHERE|ORDER BY|GROUP BY)\s/

/** Whether a text is SQL, or a piece of it that conditions stand in. @param {string} text */
export function isSql(text) {
  return STATEMENT.test(text)
}

/** column or parameter, comparison, and what it is compared with */
const OPERAND = String.raw`(?:[\w.]+|\?|'[^']*')`
const CONDITION = new RegExp(
  String.raw`(?<=\bAND\s+)(${OPERAND} (?:=|<>|<=|>=|<|>|IS NOT|IS) ${OPERAND})(?=\s|\)|$)`,
  'g',
)

/** What stands before a comparison decides whether it is one: `SET a = ?` is none. */
const CLAUSE = /\b(SET|VALUES|WHERE|AND|OR|ON|WHEN|CASE|HAVING|NOT|THEN|SELECT)\b/g

/** @param {string} before text before a `=` */
function isComparison(before) {
  const clause = [...before.matchAll(CLAUSE)].at(-1)?.[1]
  return clause !== undefined && !['SET', 'VALUES', 'THEN'].includes(clause)
}

/** @type {{ find: RegExp, put: string | ((found: string) => string), name: string, only?: (before: string) => boolean }[]} */
const RULES = [
  { name: 'sql: a condition is dropped', find: CONDITION, put: (found) => `(${found} OR 1)` },
  { name: 'sql: = becomes <>', find: /(?<= )=(?= )/g, put: '<>', only: isComparison },
  { name: 'sql: <> becomes =', find: /(?<= )<>(?= )/g, put: '=' },
  { name: 'sql: < becomes <=', find: /(?<= )<(?= )/g, put: '<=' },
  { name: 'sql: > becomes >=', find: /(?<= )>(?= )/g, put: '>=' },
  { name: 'sql: <= becomes <', find: /(?<= )<=(?= )/g, put: '<' },
  { name: 'sql: >= becomes >', find: /(?<= )>=(?= )/g, put: '>' },
  { name: 'sql: IS NULL becomes IS NOT NULL', find: /\bIS NULL\b/g, put: 'IS NOT NULL' },
  { name: 'sql: IS NOT NULL becomes IS NULL', find: /\bIS NOT NULL\b/g, put: 'IS NULL' },
  { name: 'sql: NOT is dropped', find: /\bNOT (?=IN\b|EXISTS\b)/g, put: '' },
  { name: 'sql: the order is turned', find: /(?<=\bORDER BY\b[^)]*) DESC\b/g, put: '' },
  { name: 'sql: the order is turned', find: /(?<=\bORDER BY [\w.]+)(?=\s+LIMIT\b|$|\))/g, put: ' DESC' },
  { name: 'sql: max becomes min', find: /\bmax(?=\()/g, put: 'min' },
  { name: 'sql: min becomes max', find: /\bmin(?=\()/g, put: 'max' },
  { name: 'sql: + becomes -', find: /(?<= )\+(?= )/g, put: '-' },
]

/**
 * @param {string} text a piece of SQL
 * @returns {{ from: number, to: number, text: string, name: string }[]} in the order of the rules
 */
export function sqlChanges(text) {
  return RULES.flatMap(({ find, put, name, only }) =>
    [...text.matchAll(find)]
      .filter((match) => only === undefined || only(text.slice(0, match.index)))
      .map((match) => {
        const [found] = match
        return {
          from: match.index,
          to: match.index + found.length,
          text: typeof put === 'string' ? put : put(found),
          name,
        }
      }),
  )
}
