import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import { formatMoment } from '../../ui/format.js'
import { getThemeKey, resolveColour, subscribeToTheme } from '../../ui/theme-colours.js'

export interface RunPoint {
  id: string
  startedAt: string
  /** fraction of the questions */
  passed: number | undefined
  /** mean, from 0 to 1 */
  recall: number | undefined
}

const HEIGHT_PX = 220

interface PlotProps {
  /** oldest first */
  points: readonly RunPoint[]
  onSelect: (id: string) => void
}

/** Chart of runs over time. Hidden from screen readers: the list below has the same values. */
export function Plot({ points, onSelect }: PlotProps) {
  const frame = useRef<HTMLDivElement>(null)
  const latestOnSelect = useRef(onSelect)
  latestOnSelect.current = onSelect
  const theme = useSyncExternalStore(subscribeToTheme, getThemeKey)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read from the page
  useEffect(() => {
    const { current } = frame
    if (current === null || points.length === 0) return
    const plot = new uPlot(
      createOptions(current, points, (id) => latestOnSelect.current(id)),
      toPlotData(points),
      current,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: current.clientWidth, height: HEIGHT_PX }))
    observer.observe(current)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [points, theme])
  return <div className="plot" ref={frame} aria-hidden="true" />
}

function toPlotData(points: readonly RunPoint[]): uPlot.AlignedData {
  const toPercent = (fraction: number | undefined) => (fraction === undefined ? null : Math.round(fraction * 1000) / 10)
  // one step per run: on a time axis, runs within an hour would overlap
  return [
    points.map((_, index) => index),
    points.map(({ passed }) => toPercent(passed)),
    points.map(({ recall }) => toPercent(recall)),
  ]
}

function createOptions(frame: HTMLElement, points: readonly RunPoint[], onSelect: (id: string) => void): uPlot.Options {
  const colour = (name: string) => resolveColour(frame, name)
  const axis = { stroke: colour('--muted'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } }
  const formatPercent = (_: uPlot, value: number | null) => (value === null ? '' : `${value} %`)
  const line = (label: string, stroke: string, dash?: number[]): uPlot.Series => ({
    label,
    stroke,
    width: 2,
    spanGaps: true,
    points: { show: true, size: 7, fill: stroke },
    value: formatPercent,
    ...(dash === undefined ? {} : { dash }),
  })
  return {
    width: frame.clientWidth,
    height: HEIGHT_PX,
    scales: { x: { time: false, range: [-0.5, Math.max(points.length - 0.5, 0.5)] }, y: { range: [0, 105] } },
    // the table below the chart shows the values
    legend: { live: false },
    cursor: { y: false, drag: { x: false, y: false } },
    series: [
      { label: 'Run', value: (_, index) => (index === null ? '' : formatMoment(points[index]?.startedAt ?? 0)) },
      line('Passed', colour('--accent')),
      line('Recall', colour('--warn'), [6, 4]),
    ],
    axes: [
      {
        ...axis,
        // one label per run, as far as there is space
        incrs: [1, 2, 5, 10, 20, 50, 100],
        space: 84,
        values: (_, indexes) => indexes.map((index) => formatDate(points[index]?.startedAt)),
      },
      { ...axis, size: 48, values: (_, percents) => percents.map((percent) => `${percent} %`) },
    ],
    hooks: {
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const point = points[plot.cursor.idx ?? -1]
            if (point !== undefined) onSelect(point.id)
          }),
      ],
    },
  }
}

const dateFormat = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
})
const formatDate = (time: string | undefined) => (time === undefined ? '' : dateFormat.format(new Date(time)))
