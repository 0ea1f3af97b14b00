/** Financial statements, by their headings in reports (`heads`) and their names in questions (`asked`). */
export const STATEMENTS = {
  income: {
    heads: splitList('statements of income, statements of operations, statements of earnings, income statement'),
    asked: splitList(
      'income statement, statement of income, statement of operations, statement of earnings, p l, profit and loss',
    ),
  },
  balance: {
    heads: splitList('balance sheets, statements of financial position, statement of financial position'),
    asked: splitList('balance sheet, statement of financial position'),
  },
  cash: {
    heads: splitList('statements of cash flows, cash flow statement'),
    asked: splitList('cash flow statement, statement of cash flow'),
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
