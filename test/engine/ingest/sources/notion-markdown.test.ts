import MarkdownIt from 'markdown-it'
import { expect, it } from 'vitest'
import {
  blocksToMarkdown,
  escapeMarkdown,
  getTitle,
  type NotionBlock,
  pageToMarkdown,
  propertiesToMarkdown,
} from '../../../../src/engine/ingest/sources/connectors/notion-markdown.js'

const rich = (text: string, about: Record<string, unknown> = {}) => ({ plain_text: text, ...about })
const block = (type: string, value: Record<string, unknown>, children: NotionBlock[] = []): NotionBlock => ({
  type,
  value,
  children,
})
const said = (type: string, text: string, children: NotionBlock[] = []) =>
  block(type, { rich_text: [rich(text)] }, children)

it.each([
  ['heading_1', '# Words'],
  ['heading_2', '## Words'],
  ['heading_3', '### Words'],
  ['heading_4', '#### Words'],
  ['paragraph', 'Words'],
  ['bulleted_list_item', '- Words'],
  ['numbered_list_item', '1. Words'],
  ['to_do', '- [ ] Words'],
  ['quote', '> Words'],
  ['callout', '> Words'],
  ['toggle', 'Words'],
  ['code', '```\nWords\n```'],
])('a Notion block of type %s becomes the Markdown of its kind', (type, text) => {
  expect(blocksToMarkdown([said(type, 'Words')])).toBe(text)
})

it.each(['image', 'file', 'pdf', 'video', 'audio'])(
  'a Notion block of type %s becomes its caption or name, linked when the file is external',
  (type) => {
    const of = (value: Record<string, unknown>) => blocksToMarkdown([block(type, value)])
    const external = { url: 'https://a.example/f' }
    expect(of({ caption: [rich('Plan')], name: 'f.png', external })).toBe('[Plan](<https://a.example/f>)')
    expect(of({ caption: [], name: 'f_1.png', external })).toBe('[f\\_1.png](<https://a.example/f>)')
    expect(of({ caption: [], name: 'f.png', file: { url: 'https://notion.example/signed' } })).toBe('f.png')
    expect(of({ external })).toBe('<https://a.example/f>')
    expect(of({ caption: [rich('Plan')], external: { url: 'javascript:alert(1)' } })).toBe('Plan')
  },
)

it.each(['bookmark', 'embed', 'link_preview'])('a Notion block of type %s becomes a link with its caption', (type) => {
  const of = (value: Record<string, unknown>) => blocksToMarkdown([block(type, value)])
  expect(of({ caption: [rich('There')], url: 'http://a.example/x' })).toBe('[There](<http://a.example/x>)')
  expect(of({ url: 'https://a.example/x' })).toBe('<https://a.example/x>')
  expect(of({ caption: [rich('There')], url: 'https://a.example/x y' })).toBe('There')
  expect(of({})).toBe('')
})

it('children of a Notion block are indented below list items, quoted below quotes, and separate elsewhere', () => {
  const below = [said('paragraph', 'below')]
  expect(blocksToMarkdown([said('bulleted_list_item', 'one', below)])).toBe('- one\n  below')
  expect(blocksToMarkdown([said('numbered_list_item', 'one', below)])).toBe('1. one\n   below')
  expect(blocksToMarkdown([said('to_do', 'one', below)])).toBe('- [ ] one\n  below')
  expect(blocksToMarkdown([said('quote', 'one', below)])).toBe('> one\n> \n> below')
  expect(blocksToMarkdown([said('paragraph', 'one', below)])).toBe('one\n\nbelow')
  expect(blocksToMarkdown([said('heading_2', 'one', below)])).toBe('## one\n\nbelow')
  expect(blocksToMarkdown([said('column_list', '', [said('column', '', below)])])).toBe('below')
  expect(blocksToMarkdown([said('heading_1', '', below)])).toBe('below')
})

it('items of a Notion list are adjacent and numbered, and a new list restarts the numbers', () => {
  const blocks = [
    said('numbered_list_item', 'a'),
    said('numbered_list_item', 'b'),
    said('bulleted_list_item', 'c'),
    said('bulleted_list_item', 'd'),
    block('to_do', { rich_text: [rich('e')], checked: true }),
    said('to_do', 'f'),
    said('numbered_list_item', 'g'),
    said('paragraph', 'h'),
    said('paragraph', 'i'),
  ]
  expect(blocksToMarkdown(blocks)).toBe('1. a\n2. b\n\n- c\n- d\n\n- [x] e\n- [ ] f\n\n1. g\n\nh\n\ni')
})

it('an empty Notion block adds no blank lines', () => {
  expect(
    blocksToMarkdown([said('paragraph', 'a'), said('paragraph', ''), block('divider', {}), said('quote', 'b')]),
  ).toBe('a\n\n---\n\n> b')
})

it('Notion code gets a fence longer than any fence inside, and a language without spaces', () => {
  const code = (text: string, language?: unknown) =>
    blocksToMarkdown([block('code', { rich_text: [rich(text, { annotations: { bold: true } })], language })])
  expect(code('a_b', 'c++')).toBe('```c++\na_b\n```')
  expect(code('x', 'plain text')).toBe('```plaintext\nx\n```')
  expect(code('```\n````', 1)).toBe('`````\n```\n````\n`````')
})

it('a Notion equation, child page or child database becomes its content or title', () => {
  expect(blocksToMarkdown([block('equation', { expression: 'a_1' })])).toBe('$$\na_1\n$$')
  expect(blocksToMarkdown([block('child_page', { title: 'A*' })])).toBe('A\\*')
  expect(blocksToMarkdown([block('child_database', { title: 'B' })])).toBe('B')
  expect(blocksToMarkdown([block('equation', {}), block('child_page', {}), block('divider', {})])).toBe('---')
})

it('a Notion table has a separator after its first row, and bars in cells are escaped', () => {
  const row = (...cells: string[]) => block('table_row', { cells: cells.map((text) => [rich(text)]) })
  expect(blocksToMarkdown([block('table', {}, [row('a', 'b|c'), row('d\ne', 'f')])])).toBe(
    '| a | b\\|c |\n| --- | --- |\n| d e | f |',
  )
  expect(blocksToMarkdown([block('table', {}), said('paragraph', 'x')])).toBe('x')
})

it('emphasis in Notion text encloses words without blanks, and links enclose the emphasis', () => {
  const of = (...parts: unknown[]) => blocksToMarkdown([block('paragraph', { rich_text: parts })])
  const marked = (text: string, ...marks: string[]) =>
    rich(text, { annotations: Object.fromEntries(marks.map((mark) => [mark, true])) })
  expect(of(marked('a ', 'bold'), marked(' b', 'italic'), marked('c', 'strikethrough'))).toBe('**a**  *b*~~c~~')
  expect(of(marked('a_b', 'code'), marked('`', 'code'))).toBe('`a_b``` ` ``')
  expect(of(marked('x', 'bold', 'italic', 'strikethrough'))).toBe('~~***x***~~')
  expect(of(rich('x', { href: 'https://a.example/' }), rich('y', { href: '/relative' }))).toBe(
    '[x](<https://a.example/>)y',
  )
  expect(of(rich('a'), marked(' ', 'bold'), rich('b'))).toBe('a b')
  expect(of('text', { plain_text: 1 }, null, rich('ok'))).toBe('ok')
})

it('plain Notion text is escaped where Markdown would interpret it', () => {
  expect(escapeMarkdown('a*b_[c]<d>`e\\')).toBe('a\\*b\\_\\[c\\]\\<d\\>\\`e\\\\')
  const lines = '# a\n### a\n  - b\n+ c\n1. d\n2) e\n> f\n---\n===\n~~~'
  expect(escapeMarkdown(lines)).toBe('\\# a\n\\### a\n  \\- b\n\\+ c\n1\\. d\n2\\) e\n\\> f\n\\---\n\\===\n\\~\\~~')
  expect(escapeMarkdown('#a -b 1.c ~1 - = a')).toBe('#a -b 1.c ~1 - = a')
})

it('plain Notion text renders back from Markdown unchanged', () => {
  for (const text of ['# a', '## a', '1. a', '12) a', '- a', '+ a', '> a', '---', '===', '~~~', '~~a~~', 'a_b_ *c*']) {
    const html = new MarkdownIt().render(`before\n${escapeMarkdown(text)}\n\nbehind`)
    expect(html.replaceAll('&gt;', '>')).toBe(`<p>before\n${text}</p>\n<p>behind</p>\n`)
  }
})

it('a Notion page becomes its title, its properties and its blocks', () => {
  const properties = {
    Count: { type: 'number', number: 0 },
    Name: { type: 'title', title: [rich('My\n page '), rich('*')] },
  }
  expect(pageToMarkdown(properties, [said('paragraph', 'Body')])).toEqual({
    title: 'My page *',
    text: '# My page \\*\n\n- Count: 0\n\nBody\n',
  })
  expect(pageToMarkdown({}, [said('paragraph', 'Body')])).toEqual({ title: '', text: 'Body\n' })
  expect(pageToMarkdown(null, [])).toEqual({ title: '', text: '\n' })
  expect(getTitle({ Name: { type: 'title', title: [rich('x'.repeat(300))] } })).toBe('x'.repeat(200))
  expect(getTitle({ Other: { type: 'rich_text', rich_text: [rich('x')] }, broken: null })).toBe('')
})

it.each([
  ['rich_text', [rich('a b', { annotations: { bold: true } })], '**a b**'],
  ['number', 12.5, '12.5'],
  ['checkbox', false, 'false'],
  ['checkbox', true, 'true'],
  ['url', 'https://a.example/b_c', 'https://a.example/b\\_c'],
  ['email', 'a@b.example', 'a@b.example'],
  ['phone_number', '+1 2', '+1 2'],
  ['select', { name: 'Red' }, 'Red'],
  ['status', { name: 'Done' }, 'Done'],
  ['multi_select', [{ name: 'a' }, {}, { name: 'b' }], 'a, b'],
  ['people', [{ name: 'Ada' }, { id: '1' }], 'Ada'],
  ['date', { start: '2024-01-01', end: '2024-01-03' }, '2024-01-01 – 2024-01-03'],
  ['date', { start: '2024-01-01', end: null }, '2024-01-01'],
])('a Notion property of type %s becomes a list item', (type, value, text) => {
  expect(propertiesToMarkdown({ 'The column': { type, [type]: value } })).toBe(`- The column: ${text}`)
})

it.each([
  ['number', null],
  ['checkbox', undefined],
  ['url', null],
  ['select', null],
  ['multi_select', null],
  ['date', null],
  ['title', [rich('x')]],
  ['relation', [{ id: '1' }]],
])('a Notion property of type %s with the value %j is omitted', (type, value) => {
  expect(propertiesToMarkdown({ a: { type, [type]: value }, b: { type: 'number', number: 1 } })).toBe('- b: 1')
})
