import { checkLine, type GoldenReport } from './report.js'

/**
 * Formats the report as JUnit XML: a test case for each check and each question. A question fails only if it is worse
 * than the baseline, since the checks are the gate; a question that could not run is an error, one without labels is
 * skipped.
 */
export function junit(report: GoldenReport): string {
  const worse = new Set(report.baseline?.worse ?? [])
  const broken = new Set(report.baseline?.broken ?? [])
  const checks = report.checks.map((check) =>
    testcase('golden.checks', check.name, check.holds ? '' : tag('failure', checkLine(check))),
  )
  const questions = report.results.map((result) => {
    const { status, recall, reciprocalRank, answerable, answer, missing, unresolved, error } = result
    const figures = JSON.stringify({ recall, reciprocalRank, answerable, missing, answer })
    const outcome =
      status === 'failed'
        ? tag('error', error ?? 'failed')
        : unresolved.length > 0
          ? tag('error', unresolved.join('; '))
          : status === 'unlabelled'
            ? '<skipped/>'
            : worse.has(result.id)
              ? tag('failure', broken.has(result.id) ? 'the answer is no longer right' : 'worse than the baseline')
              : ''
    return testcase('golden.questions', result.question, `${outcome}<system-out>${xmlText(figures)}</system-out>`)
  })
  const cases = [...checks, ...questions]
  const count = (mark: string) => cases.filter((each) => each.includes(`<${mark}`)).length
  const totals = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}" skipped="${count('skipped')}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals}>\n<testsuite name="ks golden run" ${totals}>\n${cases.join('\n')}\n</testsuite>\n</testsuites>\n`
}

function testcase(classname: string, name: string, inside: string): string {
  return `<testcase classname="${classname}" name="${xmlText(name)}">${inside}</testcase>`
}

function tag(name: string, message: string): string {
  return `<${name} message="${xmlText(message)}"/>`
}

/** Removes control characters, which XML forbids even escaped, and replaces lone surrogates. */
function xmlText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, ' ')
}
