/** Financial statements, by their headings in reports (`heads`) and their names in questions (`asked`). */
export const STATEMENTS = {
  income: {
    heads: listed('statements of income, statements of operations, statements of earnings, income statement'),
    asked: listed(
      'income statement, statement of income, statement of operations, statement of earnings, p l, profit and loss',
    ),
  },
  balance: {
    heads: listed('balance sheets, statements of financial position, statement of financial position'),
    asked: listed('balance sheet, statement of financial position'),
  },
  cash: {
    heads: listed('statements of cash flows, cash flow statement'),
    asked: listed('cash flow statement, statement of cash flow'),
  },
} as const
export type StatementName = keyof typeof STATEMENTS

interface Line {
  statement: StatementName
  /** labels in reports, most usual first */
  labels: readonly string[]
}

/** Rows of statements. A label of one word must equal the label of its row; a longer one may be its beginning. */
export const LINES = {
  revenue: row(
    'income',
    'total revenues, total net revenue, total net sales, net sales, net revenue, revenue, sales, net operating revenues, sales and other operating revenues, operating revenues',
  ),
  costOfSales: row(
    'income',
    'cost of sales, cost of revenue, cost of goods sold, cost of products sold, total cost of sales, total cost of revenue, total costs and expenses, total cost of products',
  ),
  grossProfit: row('income', 'gross profit, gross margin'),
  operatingIncome: row(
    'income',
    'operating income, income from operations, earnings from operations, operating profit, loss from operations, operating loss, operating earnings, total operating income',
  ),
  incomeBeforeTax: row(
    'income',
    'income before income taxes, earnings before income taxes, income before, loss before, earnings before, income from continuing operations before, profit before tax',
  ),
  incomeTax: row(
    'income',
    'provision for income taxes, income tax expense, provision for taxes on income, income tax, benefit from income taxes, provision benefit for income taxes',
  ),
  netIncome: row(
    'income',
    'net income, net earnings, net loss, net income attributable, consolidated net income, profit for the year, profit for the period',
  ),
  interestExpense: row('income', 'interest expense, interest and debt expense, interest and other expense'),
  depreciation: row('cash', 'depreciation and amortization, depreciation amortization, depreciation'),
  research: row('income', 'research and development, research development'),
  overhead: row(
    'income',
    'selling general and administrative, general and administrative, selling informational and administrative, sales and marketing, marketing general and administrative',
  ),
  earningsPerShare: row(
    'income',
    'earnings per, net income per, basic earnings, diluted earnings, diluted net income per, basic net income per, basic, diluted',
  ),
  currentAssets: row('balance', 'total current assets'),
  currentLiabilities: row('balance', 'total current liabilities'),
  totalAssets: row('balance', 'total assets'),
  totalLiabilities: row('balance', 'total liabilities'),
  equity: row(
    'balance',
    'total stockholders equity, total shareholders equity, total equity, stockholders equity, shareholders equity, total shareowners equity',
  ),
  cash: row('balance', 'cash and cash equivalents, cash cash equivalents'),
  receivables: row(
    'balance',
    'accounts receivable, trade receivables, receivables, trade accounts receivable, accounts and notes receivable',
  ),
  inventories: row('balance', 'inventories, inventory, merchandise inventories, total inventories, inventories net'),
  payables: row('balance', 'accounts payable, trade payables, trade accounts payable'),
  property: row('balance', 'property plant and equipment, property and equipment, net property, total property'),
  goodwill: row('balance', 'goodwill'),
  debt: row(
    'balance',
    'long term debt, total debt, short term debt, current portion of long term debt, notes payable, borrowings',
  ),
  operatingCash: row(
    'cash',
    'net cash provided by operating, net cash provided by used in operating, net cash from operating, cash flows from operating activities, net cash provided by used for operating, net cash flows from operating, net cash used in operating, operating cash flow',
  ),
  investingCash: row(
    'cash',
    'net cash used in investing, net cash provided by used in investing, net cash used for investing, net cash provided by investing, net cash from investing',
  ),
  financingCash: row(
    'cash',
    'net cash used in financing, net cash provided by used in financing, net cash used for financing, net cash provided by financing, net cash from financing',
  ),
  capitalExpenditure: row(
    'cash',
    'purchases of property, capital expenditures, additions to property, purchase of property, payments for property, acquisition of property, capital spending, additions to plant',
  ),
  dividends: row('cash', 'dividends paid, cash dividends, payment of dividends, payments of dividends, dividends'),
  repurchases: row(
    'cash',
    'repurchases of common stock, repurchase of common stock, repurchases of, purchases of treasury stock, share repurchases, treasury stock',
  ),
} as const satisfies Record<string, Line>
export type LineName = keyof typeof LINES

function row(statement: StatementName, labels: string): Line {
  return { statement, labels: listed(labels) }
}

function listed(text: string): readonly string[] {
  return text.split(', ')
}
