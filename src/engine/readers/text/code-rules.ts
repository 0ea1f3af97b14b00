/**
 * Rules that find the symbol which a line declares in a programming language. They examine only the first characters of
 * one line.
 */

/** A symbol that contains others (a class), one that does not (a function), or a value or type. */
export type SymbolKind = 'container' | 'function' | 'value'

export interface SymbolDeclaration {
  name: string
  kind: SymbolKind
}

interface SymbolRule {
  /** the first group that matched is the name */
  pattern: RegExp
  kind: SymbolKind
  /** matches only at the left margin, or only within a container */
  where?: 'margin' | 'inside'
}

/** Characters of a line that are examined. */
const EXAMINED_LENGTH = 300
const MODIFIERS = String.raw`(?:(?:export|default|declare|public|private|protected|internal|static|final|sealed|abstract|partial|override|open|data|inline|value|virtual|readonly|unsafe|async|pub|pub\(\w+\)|extern|extern "C"|const|unsafe|native|synchronized|suspend|tailrec|operator|infix|fileprivate|mutating|indirect|required|convenience|lateinit|enum|annotation|inner|companion|case|implicit|lazy|new|file|ref) )*`

const container = (words: string, name = String.raw`([\w$.:]+)`): SymbolRule => ({
  pattern: new RegExp(`^${MODIFIERS}(?:${words}) ${name}`),
  kind: 'container',
})
const fn = (pattern: RegExp): SymbolRule => ({ pattern, kind: 'function' })
const value = (pattern: RegExp): SymbolRule => ({ pattern, kind: 'value', where: 'margin' })
const keywordFunction = (words: string): SymbolRule => ({
  pattern: new RegExp(`^${MODIFIERS}(?:${words}) ([\\w$]+)`),
  kind: 'function',
})

const SCRIPT: SymbolRule[] = [
  container('class|interface|enum|namespace|module'),
  { pattern: /^describe(?:\.\w+)?\(\s?['"`]([^'"`]{1,120})/, kind: 'container' },
  fn(/^(?:it|test)(?:\.\w+)?\(\s?['"`]([^'"`]{1,160})/),
  fn(/^(?:export )?(?:default )?(?:declare )?(?:async )?function ?\*? ?([\w$]+)/),
  fn(
    /^(?:export )?(?:const|let|var) ([\w$]+)[^=]{0,150}= ?(?:async )?(?:function\b|\([^)]{0,150}\)[^=]{0,60}=>|\($|[\w$]+ =>)/,
  ),
  value(/^(?:export )?(?:declare )?(?:const|let|var|type) ([\w$]+)/),
  {
    pattern:
      /^(?:(?:public|private|protected|static|async|override|abstract|get|set) )*\*? ?(?!(?:if|for|while|switch|catch|return|function|with|do|else|new|throw|await|typeof)\b)(#?[\w$]+)(?:<[^>]{0,100}>)?\([^;]*[{,(]$/,
    kind: 'function',
    where: 'inside',
  },
]

const RULES: Record<string, readonly SymbolRule[]> = {
  typescript: SCRIPT,
  javascript: SCRIPT,
  python: [
    container('class', '(\\w+)'),
    fn(/^(?:async )?def (\w+)/),
    value(/^([A-Z][A-Z0-9_]+)(?:: ?[\w[\], .|]{1,60})? ?=/),
  ],
  go: [
    fn(/^func (?:\(\w* ?\*?(\w+(?:\[[\w, ]{1,40}\])?)\) )?(\w+)/),
    { pattern: /^type (\w+)/, kind: 'value', where: 'margin' },
    value(/^(?:var|const) (\w+)/),
  ],
  rust: [
    { pattern: /^(?:unsafe )?impl(?:<[^>]{0,80}>)? ((?:[\w:]+(?:<[^>]{0,80}>)? for )?[\w:&]+)/, kind: 'container' },
    container('trait|mod', '(\\w+)'),
    keywordFunction('fn'),
    value(new RegExp(`^${MODIFIERS}(?:struct|enum|union|type|const|static) (\\w+)`)),
    fn(/^macro_rules! (\w+)/),
  ],
  java: [container('class|interface|enum|record|@interface')],
  kotlin: [
    container('class|interface|object', '(\\w+)'),
    { pattern: new RegExp(`^${MODIFIERS}fun (?:<[^>]{0,60}> )?(?:[\\w<>?.]{1,60}\\.)?(\\w+)`), kind: 'function' },
  ],
  scala: [container('class|object|trait', '(\\w+)'), keywordFunction('def')],
  csharp: [container('class|interface|struct|record|record struct|record class|enum|namespace')],
  cpp: [container('class|struct|namespace|union|enum class|enum'), fn(/^# ?define (\w+)\(/)],
  c: [
    container('struct|union|enum'),
    { pattern: /^typedef (?:struct|union|enum) (\w+)/, kind: 'value' },
    fn(/^# ?define (\w+)\(/),
  ],
  dart: [container('class|mixin|extension|enum', '(\\w+)')],
  swift: [
    container('class|struct|enum|protocol|extension|actor', '([\\w.]+)'),
    { pattern: new RegExp(`^${MODIFIERS}(?:func (\\w+)|(init|deinit)\\b)`), kind: 'function' },
  ],
  ruby: [container('module|class', '([\\w:]+)'), fn(/^(?:private |protected )?def (?:self\.)?([\w?!=[\]]+)/)],
  php: [
    container('class|interface|trait|enum', '(\\w+)'),
    { pattern: new RegExp(`^${MODIFIERS}function &?(\\w+)`), kind: 'function' },
  ],
  bash: [fn(/^(?:function )?([\w:.-]+) ?\(\) ?\{?/), fn(/^function ([\w:.-]+)/)],
  sql: [
    fn(
      /^create (?:or replace )?(?:temp(?:orary)? |unlogged |materialized |unique |global |external |definer ?= ?\S{1,60} )*((?:table|view|function|procedure|index|trigger|type|schema|sequence|package)(?: if not exists)? ["`[\]\w.]+)/i,
    ),
  ],
  perl: [container('package', '([\\w:]+)'), fn(/^sub (\w+)/)],
  lua: [fn(/^(?:local )?function ([\w.:]+)/)],
  elixir: [container('defmodule|defprotocol|defimpl'), fn(/^(?:def|defp|defmacro) ([\w?!]+)/)],
  julia: [container('module', '(\\w+)'), fn(/^(?:mutable )?(?:function|struct|macro) ([\w.!]+)/)],
  r: [fn(/^([\w.]+) ?(?:<-|=) ?function\b/)],
  powershell: [container('class', '(\\w+)'), fn(/^function ([\w:-]+)/i)],
  proto: [container('message|service|enum', '(\\w+)'), fn(/^rpc (\w+)/)],
  graphql: [value(/^(?:extend )?(?:type|input|enum|interface|union|scalar|query|mutation|fragment) (\w+)/)],
  hcl: [value(/^((?:resource|data) "[\w-]+" "[\w-]+"|(?:module|variable|output|provider) "[\w-]+")/)],
  solidity: [container('contract|interface|library', '(\\w+)'), fn(/^(?:function|modifier|event) (\w+)/)],
  zig: [fn(/^(?:pub )?(?:export )?fn (\w+)/)],
  makefile: [value(/^([\w./%-]{1,80}) ?:(?!=)/)],
  objectivec: [
    { pattern: /^@(?:interface|implementation|protocol) (\w+)/, kind: 'container' },
    fn(/^[-+] ?\([^)]{1,80}\) ?(\w+)/),
  ],
  groovy: [container('class|interface|trait|enum', '(\\w+)'), keywordFunction('def')],
  clojure: [fn(/^\((?:defn-?|defmacro|defmulti|defprotocol|defrecord|deftype) \^?:?[\w-]* ?([\w!?*<>-]+)/)],
  pascal: [fn(/^(?:procedure|function|constructor|destructor) ([\w.]+)/i)],
  vb: [
    container('class|module|structure', '(\\w+)'),
    fn(/^(?:public |private |friend |shared |static )*(?:sub|function|property) (\w+)/i),
  ],
  haskell: [value(/^(?:data|newtype|class|type|instance) ([\w ]{1,60})/), value(/^([a-z][\w']*) ::/)],
}

/** Languages whose methods have no keyword before their name, only a type or nothing. */
const TYPE_FIRST_LANGUAGES = new Set(['java', 'csharp', 'cpp', 'c', 'dart'])
/** Those of them that have functions outside of containers. */
const FREE_FUNCTION_LANGUAGES = new Set(['cpp', 'c', 'dart'])
const KEYWORDS = new Set(
  'if for while switch catch return new else do throw sizeof assert using lock foreach await case delete super this static_assert'.split(
    ' ',
  ),
)

/** Whether there are rules for the symbols of a language. */
export function hasSymbols(language: string): boolean {
  return RULES[language] !== undefined
}

/**
 * The declaration on a line, if any.
 *
 * @param line without its indentation
 * @param position `isAtMargin`: the line has no indentation; `isInContainer`: the innermost enclosing symbol is one
 */
export function findDeclaration(
  line: string,
  language: string,
  { isAtMargin, isInContainer }: { isAtMargin: boolean; isInContainer: boolean },
): SymbolDeclaration | undefined {
  const text = line.slice(0, EXAMINED_LENGTH).replace(/\s+/g, ' ').trimEnd()
  for (const { pattern, kind, where } of RULES[language] ?? []) {
    if ((where === 'margin' && !isAtMargin) || (where === 'inside' && !isInContainer)) continue
    const match = pattern.exec(text)
    const name = match
      ?.slice(1)
      .filter((part) => part !== undefined)
      .join('.')
    // A forward declaration has no content.
    if (name !== undefined && name !== '' && !(kind === 'container' && /^[^{(]*;$/.test(text))) return { name, kind }
  }
  const mayBeFunction = isInContainer || (isAtMargin && FREE_FUNCTION_LANGUAGES.has(language))
  if (!TYPE_FIRST_LANGUAGES.has(language) || !mayBeFunction) return undefined
  const name = findTypedFunction(text)
  return name === undefined ? undefined : { name, kind: 'function' }
}

/** `static List<String> names(int a) {`: types, a name, a bracket, and no statement. */
function findTypedFunction(text: string): string | undefined {
  const bracket = text.indexOf('(')
  if (bracket <= 0 || /;$/.test(text) || !/[{),:]$|\b(?:const|override|noexcept|throws [\w., ]{1,80})$/.test(text))
    return undefined
  const before = text.slice(0, bracket).trimEnd()
  const name = /([\w~]+(?:::~?\w+)*)$/.exec(before)?.[1]
  if (name === undefined || KEYWORDS.has(name) || /^\d/.test(name)) return undefined
  const types = before.slice(0, before.length - name.length)
  if (!/^[\w<>[\],.?&*:@ ]*$/.test(types) || /\b(?:return|new|throw|else|case|goto|delete)\b/.test(types))
    return undefined
  return name
}
