import type { GoldenReport } from '../json-output/quality.js'
import { formatCheck } from './report.js'

/**
 * Formats the report as JUnit XML: a test case for each check and each question. A question fails only if it is worse
 * than the baseline, since the checks are the gate; a question that could not run is an error, one without labels is
 * skipped.
 */
export function formatJunit(report: GoldenReport): string {
  const worse = new Set(report.baseline?.worse ?? [])
  const broken = new Set(report.baseline?.broken ?? [])
  const checks = report.checks.map((check) =>
    formatTestCase('golden.checks', check.name, check.holds ? '' : formatTag('failure', formatCheck(check))),
  )
  const questions = report.results.map((result) => {
    const { status, recall, reciprocalRank, answerable, answer, missing, unresolved, error } = result
    const figures = JSON.stringify({ recall, reciprocalRank, answerable, missing, answer })
    const outcome =
      status === 'failed'
        ? formatTag('error', error ?? 'failed')
        : unresolved.length > 0
          ? formatTag('error', unresolved.join('; '))
          : status === 'unlabelled'
            ? '<skipped/>'
            : worse.has(result.id)
              ? formatTag(
                  'failure',
                  broken.has(result.id) ? 'the answer is no longer right' : 'worse than the baseline',
                )
              : ''
    return formatTestCase(
      'golden.questions',
      result.question,
      `${outcome}<system-out>${escapeXml(figures)}</system-out>`,
    )
  })
  const cases = [...checks, ...questions]
  const count = (tagName: string) => cases.filter((testCase) => testCase.includes(`<${tagName}`)).length
  const totals = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals}>\n<testsuite name="ks golden run" ${totals}>\n${cases.join('\n')}\n</testsuite>\n</testsuites>\n`
}

function formatTestCase(classname: string, name: string, content: string): string {
  return `<testcase classname="${classname}" name="${escapeXml(name)}">${content}</testcase>`
}

function formatTag(name: string, message: string): string {
  return `<${name} message="${escapeXml(message)}"/>`
}

/** Removes control characters, which XML forbids even escaped, and replaces lone surrogates. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, ' ')
}
