/**
 * Financial measures that reports rarely name but whose components they always contain: a question about a ratio is
 * answered by the statements that it is computed from. Common knowledge of accounting; in English, like the reports
 * that use these words.
 */
const MEASURE_COMPONENTS: readonly (readonly [RegExp, string])[] = [
  [/\bgross (?:profit )?margins?\b/i, 'gross profit cost of sales cost of revenue total revenues'],
  [/\boperating (?:profit )?margins?\b/i, 'operating income earnings from operations total revenue'],
  [/\b(?:net|profit) (?:profit )?margins?\b/i, 'net income net earnings total revenue'],
  [/\bebitda\b/i, 'operating income depreciation amortization'],
  [
    /\b(?:quick|current|acid[- ]test) ratio\b/i,
    'total current assets total current liabilities inventories receivables',
  ],
  [/\bworking capital\b/i, 'total current assets total current liabilities'],
  [/\bfree cash ?flows?\b/i, 'net cash provided by operating activities purchases of property and equipment'],
  [/\b(?:capex|capital expenditures?)\b/i, 'purchases of property plant and equipment additions investing activities'],
  [/\bdays payable|\bdpo\b/i, 'accounts payable cost of sales inventories'],
  [/\bdays sales|\bdso\b/i, 'accounts receivable net sales'],
  [/\b(?:days inventory|inventory (?:days|turnover))\b|\bdio\b/i, 'inventories cost of sales'],
  [/\bpp&?n?e\b|\bfixed assets?\b/i, 'property plant and equipment net'],
  [/\beffective tax rates?\b/i, 'provision for income taxes income tax expense before income taxes'],
  [/\b(?:debt[- ]to[- ]equity|leverage) ratio\b/i, 'total debt long-term debt shareholders equity'],
  [/\breturn on (?:assets|equity)\b|\bro[ae]\b/i, 'net income total assets total equity'],
  [/\binterest coverage\b/i, 'operating income interest expense'],
  [/\bpayout ratio\b/i, 'dividends net income'],
  [/\b(?:asset|fixed asset) turnover\b/i, 'net sales total assets property'],
]

/** Words of the components of a question's measures; empty where it asks for none of them. */
export function measureComponents(query: string): string {
  return MEASURE_COMPONENTS.flatMap(([measure, parts]) => (measure.test(query) ? [parts] : [])).join(' ')
}
