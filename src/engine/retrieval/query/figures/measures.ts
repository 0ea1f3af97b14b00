import type { LineName } from './statement-lines.js'

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
