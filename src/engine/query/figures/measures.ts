import type { LineName } from './statement-lines.js'

/** A financial measure that questions ask for, and the rows that it is read or computed from. */
export interface Measure {
  /** names used in questions */
  called: readonly string[]
  lines: readonly LineName[]
  /** computed from its rows; reports mostly do not list it */
  isComputed: boolean
}

/**
 * General terms of accounting, in English. A `quick ratio` has no row in a report; its parts have, in the balance
 * sheet.
 */
export const MEASURES: readonly Measure[] = [
  computed('gross margin, gross profit margin', ['grossProfit', 'revenue', 'costOfSales']),
  told('gross profit', ['grossProfit']),
  computed('operating margin, operating income margin, operating profit margin, ebit margin', [
    'operatingIncome',
    'revenue',
  ]),
  told('operating income, operating profit, operating earnings, ebit, operating loss', ['operatingIncome']),
  computed('ebitda, ebitda margin', ['operatingIncome', 'depreciation', 'revenue']),
  computed('net margin, net profit margin, net income margin, profit margin', ['netIncome', 'revenue']),
  told('net income, net earnings, net profit, net loss', ['netIncome']),
  told('revenue, sales, net sales, turnover in sales, top line', ['revenue']),
  told('cogs, cost of goods sold, cost of sales, cost of revenue', ['costOfSales']),
  computed('effective tax rate', ['incomeTax', 'incomeBeforeTax']),
  told('income tax expense, provision for income taxes', ['incomeTax']),
  told('pretax income, income before tax', ['incomeBeforeTax']),
  computed('interest coverage, interest coverage ratio, times interest earned', ['operatingIncome', 'interestExpense']),
  told('interest expense', ['interestExpense']),
  told('depreciation and amortization, d a', ['depreciation']),
  told('r d expense, r d spending, research and development expense', ['research']),
  told('sg a, selling general and administrative', ['overhead']),
  told('eps, earnings per share', ['earningsPerShare']),
  computed('return on assets, roa', ['netIncome', 'totalAssets']),
  computed('return on equity, roe', ['netIncome', 'equity']),
  computed('return on invested capital, roic', ['operatingIncome', 'debt', 'equity']),
  computed('quick ratio, acid test, acid test ratio', [
    'currentAssets',
    'currentLiabilities',
    'inventories',
    'cash',
    'receivables',
  ]),
  computed('current ratio, working capital, working capital ratio, net working capital', [
    'currentAssets',
    'currentLiabilities',
  ]),
  computed('cash ratio', ['cash', 'currentLiabilities']),
  computed('operating cash flow ratio, cash flow from operations ratio', ['operatingCash', 'currentLiabilities']),
  computed('debt to equity, debt equity ratio, leverage ratio', ['totalLiabilities', 'equity', 'debt']),
  computed('days payable outstanding, dpo, payables turnover, accounts payable turnover', [
    'payables',
    'costOfSales',
    'inventories',
  ]),
  computed('days sales outstanding, dso, receivables turnover', ['receivables', 'revenue']),
  computed('days inventory outstanding, dio, inventory turnover, inventory turnover ratio', [
    'inventories',
    'costOfSales',
  ]),
  computed('cash conversion cycle, ccc', ['inventories', 'receivables', 'payables', 'costOfSales', 'revenue']),
  computed('fixed asset turnover, fixed asset turnover ratio', ['property', 'revenue']),
  computed('asset turnover, asset turnover ratio, total asset turnover', ['totalAssets', 'revenue']),
  computed('capital intensive, capital intensity', ['capitalExpenditure', 'property', 'totalAssets', 'revenue']),
  computed('free cash flow, fcf, free cash flow conversion', ['operatingCash', 'capitalExpenditure']),
  computed('cash flow conversion, cash conversion', ['operatingCash', 'netIncome']),
  told(
    'operating cash flow, cash flow from operations, cash from operations, cash from operating activities, cash flow from operating activities',
    ['operatingCash'],
  ),
  told('cash flow from investing, investing cash flow, investing activities', ['investingCash']),
  told('cash flow from financing, financing cash flow, financing activities', ['financingCash']),
  told('capex, capital expenditure, capital spending', ['capitalExpenditure']),
  computed('payout ratio, dividend payout, dividend payout ratio, retention ratio', ['dividends', 'netIncome']),
  told('dividends paid, cash dividends, dividend payment', ['dividends']),
  told('share repurchases, stock repurchases, buybacks, share buyback', ['repurchases']),
  told('total assets', ['totalAssets']),
  told('current assets', ['currentAssets']),
  told('current liabilities', ['currentLiabilities']),
  told('total liabilities', ['totalLiabilities']),
  told('stockholders equity, shareholders equity, total equity', ['equity']),
  told('accounts receivable, ar, receivables, net ar', ['receivables']),
  told('accounts payable', ['payables']),
  told('inventory', ['inventories']),
  told('ppne, pp e, ppe, net ppne, property plant and equipment, property and equipment', ['property']),
  told('goodwill', ['goodwill']),
  told('cash and cash equivalents, cash balance', ['cash']),
  told('total debt, long term debt', ['debt']),
]

function told(called: string, lines: readonly LineName[]): Measure {
  return { called: called.split(', '), lines, isComputed: false }
}

/** A computed measure: questions seldom name its rows. */
function computed(called: string, lines: readonly LineName[]): Measure {
  return { ...told(called, lines), isComputed: true }
}
