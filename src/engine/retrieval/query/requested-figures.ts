/** Financial statements, by their headings in reports (`heads`) and their names in questions (`names`). */
export const STATEMENTS = {
  income: {
    heads: splitList('statements of income, statements of operations, statements of earnings, income statement'),
    names: splitList(
      'income statement, statement of income, statement of operations, statement of earnings, p l, profit and loss',
    ),
  },
  balance: {
    heads: splitList('balance sheets, statements of financial position, statement of financial position'),
    names: splitList('balance sheet, statement of financial position'),
  },
  cash: {
    heads: splitList('statements of cash flows, cash flow statement'),
    names: splitList('cash flow statement, statement of cash flow'),
  },
} as const
export type StatementName = keyof typeof STATEMENTS

interface StatementLine {
  statement: StatementName
  /** labels in reports, most usual first */
  labels: readonly string[]
}

/** Rows of statements. A label of one word must equal the label of its row; a longer one may be its beginning. */
export const LINES = {
  revenue: toLine(
    'income',
    'total revenues, total net revenue, total net sales, net sales, net revenue, revenue, sales, net operating revenues, sales and other operating revenues, operating revenues',
  ),
  costOfSales: toLine(
    'income',
    'cost of sales, cost of revenue, cost of goods sold, cost of products sold, total cost of sales, total cost of revenue, total costs and expenses, total cost of products',
  ),
  grossProfit: toLine('income', 'gross profit, gross margin'),
  operatingIncome: toLine(
    'income',
    'operating income, income from operations, earnings from operations, operating profit, loss from operations, operating loss, operating earnings, total operating income',
  ),
  incomeBeforeTax: toLine(
    'income',
    'income before income taxes, earnings before income taxes, income before, loss before, earnings before, income from continuing operations before, profit before tax',
  ),
  incomeTax: toLine(
    'income',
    'provision for income taxes, income tax expense, provision for taxes on income, income tax, benefit from income taxes, provision benefit for income taxes',
  ),
  netIncome: toLine(
    'income',
    'net income, net earnings, net loss, net income attributable, consolidated net income, profit for the year, profit for the period',
  ),
  interestExpense: toLine('income', 'interest expense, interest and debt expense, interest and other expense'),
  depreciation: toLine('cash', 'depreciation and amortization, depreciation amortization, depreciation'),
  research: toLine('income', 'research and development, research development'),
  overhead: toLine(
    'income',
    'selling general and administrative, general and administrative, selling informational and administrative, sales and marketing, marketing general and administrative',
  ),
  earningsPerShare: toLine(
    'income',
    'earnings per, net income per, basic earnings, diluted earnings, diluted net income per, basic net income per, basic, diluted',
  ),
  currentAssets: toLine('balance', 'total current assets'),
  currentLiabilities: toLine('balance', 'total current liabilities'),
  totalAssets: toLine('balance', 'total assets'),
  totalLiabilities: toLine('balance', 'total liabilities'),
  equity: toLine(
    'balance',
    'total stockholders equity, total shareholders equity, total equity, stockholders equity, shareholders equity, total shareowners equity',
  ),
  cash: toLine('balance', 'cash and cash equivalents, cash cash equivalents'),
  receivables: toLine(
    'balance',
    'accounts receivable, trade receivables, receivables, trade accounts receivable, accounts and notes receivable',
  ),
  inventories: toLine('balance', 'inventories, inventory, merchandise inventories, total inventories, inventories net'),
  payables: toLine('balance', 'accounts payable, trade payables, trade accounts payable'),
  property: toLine('balance', 'property plant and equipment, property and equipment, net property, total property'),
  goodwill: toLine('balance', 'goodwill'),
  debt: toLine(
    'balance',
    'long term debt, total debt, short term debt, current portion of long term debt, notes payable, borrowings',
  ),
  operatingCash: toLine(
    'cash',
    'net cash provided by operating, net cash provided by used in operating, net cash from operating, cash flows from operating activities, net cash provided by used for operating, net cash flows from operating, net cash used in operating, operating cash flow',
  ),
  investingCash: toLine(
    'cash',
    'net cash used in investing, net cash provided by used in investing, net cash used for investing, net cash provided by investing, net cash from investing',
  ),
  financingCash: toLine(
    'cash',
    'net cash used in financing, net cash provided by used in financing, net cash used for financing, net cash provided by financing, net cash from financing',
  ),
  capitalExpenditure: toLine(
    'cash',
    'purchases of property, capital expenditures, additions to property, purchase of property, payments for property, acquisition of property, capital spending, additions to plant',
  ),
  dividends: toLine('cash', 'dividends paid, cash dividends, payment of dividends, payments of dividends, dividends'),
  repurchases: toLine(
    'cash',
    'repurchases of common stock, repurchase of common stock, repurchases of, purchases of treasury stock, share repurchases, treasury stock',
  ),
} as const satisfies Record<string, StatementLine>
export type LineName = keyof typeof LINES

function toLine(statement: StatementName, labels: string): StatementLine {
  return { statement, labels: splitList(labels) }
}

function splitList(text: string): readonly string[] {
  return text.split(', ')
}

/** A financial measure that questions ask for, and the rows that it is read or computed from. */
export interface Measure {
  /** names used in questions */
  names: readonly string[]
  lines: readonly LineName[]
  /** computed from its rows; reports mostly do not list it */
  isComputed: boolean
}

/**
 * General terms of accounting, in English. A `quick ratio` has no row in a report; its parts have, in the balance
 * sheet.
 */
export const MEASURES: readonly Measure[] = [
  computedMeasure('gross margin, gross profit margin', ['grossProfit', 'revenue', 'costOfSales']),
  reportedMeasure('gross profit', ['grossProfit']),
  computedMeasure('operating margin, operating income margin, operating profit margin, ebit margin', [
    'operatingIncome',
    'revenue',
  ]),
  reportedMeasure('operating income, operating profit, operating earnings, ebit, operating loss', ['operatingIncome']),
  computedMeasure('ebitda, ebitda margin', ['operatingIncome', 'depreciation', 'revenue']),
  computedMeasure('net margin, net profit margin, net income margin, profit margin', ['netIncome', 'revenue']),
  reportedMeasure('net income, net earnings, net profit, net loss', ['netIncome']),
  reportedMeasure('revenue, sales, net sales, turnover in sales, top line', ['revenue']),
  reportedMeasure('cogs, cost of goods sold, cost of sales, cost of revenue', ['costOfSales']),
  computedMeasure('effective tax rate', ['incomeTax', 'incomeBeforeTax']),
  reportedMeasure('income tax expense, provision for income taxes', ['incomeTax']),
  reportedMeasure('pretax income, income before tax', ['incomeBeforeTax']),
  computedMeasure('interest coverage, interest coverage ratio, times interest earned', [
    'operatingIncome',
    'interestExpense',
  ]),
  reportedMeasure('interest expense', ['interestExpense']),
  reportedMeasure('depreciation and amortization, d a', ['depreciation']),
  reportedMeasure('r d expense, r d spending, research and development expense', ['research']),
  reportedMeasure('sg a, selling general and administrative', ['overhead']),
  reportedMeasure('eps, earnings per share', ['earningsPerShare']),
  computedMeasure('return on assets, roa', ['netIncome', 'totalAssets']),
  computedMeasure('return on equity, roe', ['netIncome', 'equity']),
  computedMeasure('return on invested capital, roic', ['operatingIncome', 'debt', 'equity']),
  computedMeasure('quick ratio, acid test, acid test ratio', [
    'currentAssets',
    'currentLiabilities',
    'inventories',
    'cash',
    'receivables',
  ]),
  computedMeasure('current ratio, working capital, working capital ratio, net working capital', [
    'currentAssets',
    'currentLiabilities',
  ]),
  computedMeasure('cash ratio', ['cash', 'currentLiabilities']),
  computedMeasure('operating cash flow ratio, cash flow from operations ratio', [
    'operatingCash',
    'currentLiabilities',
  ]),
  computedMeasure('debt to equity, debt equity ratio, leverage ratio', ['totalLiabilities', 'equity', 'debt']),
  computedMeasure('days payable outstanding, dpo, payables turnover, accounts payable turnover', [
    'payables',
    'costOfSales',
    'inventories',
  ]),
  computedMeasure('days sales outstanding, dso, receivables turnover', ['receivables', 'revenue']),
  computedMeasure('days inventory outstanding, dio, inventory turnover, inventory turnover ratio', [
    'inventories',
    'costOfSales',
  ]),
  computedMeasure('cash conversion cycle, ccc', ['inventories', 'receivables', 'payables', 'costOfSales', 'revenue']),
  computedMeasure('fixed asset turnover, fixed asset turnover ratio', ['property', 'revenue']),
  computedMeasure('asset turnover, asset turnover ratio, total asset turnover', ['totalAssets', 'revenue']),
  computedMeasure('capital intensive, capital intensity', ['capitalExpenditure', 'property', 'totalAssets', 'revenue']),
  computedMeasure('free cash flow, fcf, free cash flow conversion', ['operatingCash', 'capitalExpenditure']),
  computedMeasure('cash flow conversion, cash conversion', ['operatingCash', 'netIncome']),
  reportedMeasure(
    'operating cash flow, cash flow from operations, cash from operations, cash from operating activities, cash flow from operating activities',
    ['operatingCash'],
  ),
  reportedMeasure('cash flow from investing, investing cash flow, investing activities', ['investingCash']),
  reportedMeasure('cash flow from financing, financing cash flow, financing activities', ['financingCash']),
  reportedMeasure('capex, capital expenditure, capital spending', ['capitalExpenditure']),
  computedMeasure('payout ratio, dividend payout, dividend payout ratio, retention ratio', ['dividends', 'netIncome']),
  reportedMeasure('dividends paid, cash dividends, dividend payment', ['dividends']),
  reportedMeasure('share repurchases, stock repurchases, buybacks, share buyback', ['repurchases']),
  reportedMeasure('total assets', ['totalAssets']),
  reportedMeasure('current assets', ['currentAssets']),
  reportedMeasure('current liabilities', ['currentLiabilities']),
  reportedMeasure('total liabilities', ['totalLiabilities']),
  reportedMeasure('stockholders equity, shareholders equity, total equity', ['equity']),
  reportedMeasure('accounts receivable, ar, receivables, net ar', ['receivables']),
  reportedMeasure('accounts payable', ['payables']),
  reportedMeasure('inventory', ['inventories']),
  reportedMeasure('ppne, pp e, ppe, net ppne, property plant and equipment, property and equipment', ['property']),
  reportedMeasure('goodwill', ['goodwill']),
  reportedMeasure('cash and cash equivalents, cash balance', ['cash']),
  reportedMeasure('total debt, long term debt', ['debt']),
]

function reportedMeasure(names: string, lines: readonly LineName[]): Measure {
  return { names: names.split(', '), lines, isComputed: false }
}

/** A computed measure: questions seldom name its rows. */
function computedMeasure(names: string, lines: readonly LineName[]): Measure {
  return { ...reportedMeasure(names, lines), isComputed: true }
}

/** Rows of financial statements that a question is about. */
export interface RequestedFigures {
  /** names of rows, as reports use them */
  lines: LineName[]
  /** statements that the question names, or that contain its rows */
  statements: StatementName[]
  /** years that the question names, four digits each */
  years: string[]
}

/** A question with more rows is a text, not a question. */
const MAX_LINES = 8
/** Maximum length of a question that is read, in UTF-16 units. */
const MAX_READ_LENGTH = 2000
/** The question asks for reasons, not for a figure. */
const EXPLAINS = /\b(?:why|drivers?|drove|driven|reasons?|caus(?:e|ed|es)|explain|describe|discuss)\b/i
const YEAR = /(?<!\d)(?:19|20)\d\d(?!\d)/g
/** `FY22`, `FY'22`: years of this century. */
const SHORT_YEAR = /\b(?:FY|CY)\s?['’]?(\d\d)(?!\d)/gi

const MEASURE_NAMES = MEASURES.flatMap((measure) =>
  measure.names.map((name) => ({ name: ` ${toPlainWords(name)} `, measure })),
)
const STATEMENT_NAMES = (['income', 'balance', 'cash'] as const).flatMap((statement) =>
  STATEMENTS[statement].names.map((name) => ({ name: ` ${toPlainWords(name)} `, statement })),
)

/** Finds the rows of financial statements that a question is about; undefined when there are none. */
export function findRequestedFigures(question: string): RequestedFigures | undefined {
  const read = question.slice(0, MAX_READ_LENGTH)
  const words = ` ${toPlainWords(read)} `
  const explains = EXPLAINS.test(read)
  const measures = findMeasures(words).filter(({ isComputed }) => isComputed || !explains)
  const lines = [...new Set(measures.flatMap((measure) => measure.lines))].slice(0, MAX_LINES)
  const named = explains && lines.length === 0 ? [] : STATEMENT_NAMES.filter(({ name }) => words.includes(name))
  if (lines.length === 0 && named.length === 0) return undefined
  const statements = new Set([
    ...named.map(({ statement }) => statement),
    ...lines.map((line): StatementName => LINES[line].statement),
  ])
  return { lines, statements: [...statements], years: findYears(read) }
}

/** Measures that a question names. A name inside a longer matching name does not count. */
function findMeasures(words: string): Measure[] {
  const found = MEASURE_NAMES.filter(({ name }) => words.includes(name))
  const longest = found.filter(({ name }) => !found.some((other) => other.name !== name && other.name.includes(name)))
  return [...new Set(longest.map(({ measure }) => measure))]
}

function findYears(question: string): string[] {
  const short = [...question.matchAll(SHORT_YEAR)].map(([, year]) => `20${year}`)
  return [...new Set([...(question.match(YEAR) ?? []), ...short])]
}

/** Words in lower case and singular, separated by single spaces. Both sides of a comparison use this form. */
export function toPlainWords(text: string): string {
  const words =
    text
      .toLowerCase()
      .replace(/['’]s?\b/g, '')
      .match(/[a-z]+/g) ?? []
  return words.map((word) => (word === 'cashflow' || word === 'cashflows' ? 'cash flow' : toSingular(word))).join(' ')
}

function toSingular(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
