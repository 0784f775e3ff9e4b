internal import Foundation

/// An SVG plot with two axes: lines, dots or bars. Colours are CSS classes (`s1`, `s2`), so that they follow the page's colour scheme.
struct Plot: Sendable {
    struct Series: Sendable {
        var name: String
        var points: [(x: Double, y: Double)]
        /// One per point.
        var tooltips: [String]
    }

    enum Kind: Sendable { case lines, dots, bars }

    var title: String
    var yUnit: String
    var xUnit: String
    var kind: Kind
    var series: [Series]
    /// Labels of bars, which are evenly spaced whatever their x.
    var barNames: [String] = []

    private static let width = 640.0
    private static let height = 260.0
    private static let left = 52.0
    private static let right = 16.0
    private static let top = 14.0
    private static let bottom = 40.0

    var svg: String {
        let all = series.flatMap(\.points)
        guard !all.isEmpty else { return "<p class=\"none\">nothing was measured</p>" }
        let y = PlotScale(to: all.map(\.y).max() ?? 1)
        let x =
            kind == .bars
            ? PlotScale(to: Double(all.count))
            : PlotScale(from: kind == .dots ? 0 : all.map(\.x).min() ?? 0, to: all.map(\.x).max() ?? 1, about: 8)
        var parts = ["<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" aria-label=\"\(Self.escape(title))\">"]
        for mark in y.marks {
            let at = Self.coordinate(y.share(mark), Self.height - Self.bottom, Self.top)
            parts.append("<line class=\"grid\" x1=\"\(Self.left)\" x2=\"\(Self.width - Self.right)\" y1=\"\(at)\" y2=\"\(at)\"/>")
            parts.append("<text class=\"y\" x=\"\(Self.left - 8)\" y=\"\(at)\" dy=\"0.35em\">\(PlotScale.label(mark))</text>")
        }
        parts += kind == .bars ? bars(y) : marks(of: x) + drawn(x, y)
        parts.append("<text class=\"unit\" x=\"\(Self.width - Self.right)\" y=\"\(Self.height - 4)\">\(Self.escape(xUnit))</text></svg>")
        return parts.joined()
    }

    private func marks(of x: PlotScale) -> [String] {
        x.marks.map { mark in
            let at = Self.coordinate(x.share(mark), Self.left, Self.width - Self.right)
            return "<text class=\"x\" x=\"\(at)\" y=\"\(Self.height - Self.bottom + 16)\">\(PlotScale.label(mark))</text>"
        }
    }

    private func drawn(_ x: PlotScale, _ y: PlotScale) -> [String] {
        series.enumerated().flatMap { index, series in
            let positions = series.points.map { point in
                (
                    Self.coordinate(x.share(point.x), Self.left, Self.width - Self.right),
                    Self.coordinate(y.share(point.y), Self.height - Self.bottom, Self.top)
                )
            }
            var parts: [String] = []
            if kind == .lines {
                parts.append(
                    "<polyline class=\"line s\(index + 1)\" points=\"\(positions.map { "\($0.0),\($0.1)" }.joined(separator: " "))\"/>")
            }
            for (position, tooltip) in zip(positions, series.tooltips) {
                let style = kind == .lines ? "hit" : "dot"
                parts.append(
                    "<circle class=\"\(style) s\(index + 1)\" cx=\"\(position.0)\" cy=\"\(position.1)\" r=\"\(kind == .lines ? 6 : 4)\"><title>\(Self.escape(tooltip))</title></circle>"
                )
            }
            return parts
        }
    }

    private func bars(_ y: PlotScale) -> [String] {
        guard let only = series.first else { return [] }
        let floor = Self.height - Self.bottom
        let step = (Self.width - Self.left - Self.right) / Double(only.points.count)
        let every = max(1, (only.points.count + 11) / 12)
        return only.points.enumerated().flatMap { index, point in
            let at = Self.left + Double(index) * step
            let top = Self.coordinate(y.share(point.y), floor, Self.top)
            var parts = [
                "<rect class=\"bar s1\" x=\"\(Self.rounded(at + 1))\" y=\"\(top)\" width=\"\(Self.rounded(max(1, step - 2)))\" height=\"\(Self.rounded(floor - top))\" rx=\"2\"><title>\(Self.escape(only.tooltips[index]))</title></rect>"
            ]
            if index % every == 0 {
                parts.append("<text class=\"x\" x=\"\(Self.rounded(at + step))\" y=\"\(floor + 16)\">\(barNames[index])</text>")
            }
            return parts
        }
    }

    private static func coordinate(_ share: Double, _ from: Double, _ to: Double) -> Double { rounded(from + share * (to - from)) }
    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

    static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}

/// A linear scale with marks at round numbers.
struct PlotScale: Sendable {
    let lowest: Double
    let highest: Double
    let marks: [Double]

    /// Spans `lowest` to `highest`, both extended to round numbers, with about `count` marks.
    init(from lowest: Double = 0, to highest: Double, about count: Int = 5) {
        let span = max(highest - lowest, 1e-9)
        let rough = span / Double(count)
        let power = pow(10, (log10(rough)).rounded(.down))
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999 } ?? rough
        let first = (lowest / step).rounded(.down)
        let last = max(first + 1, (highest / step - 1e-9).rounded(.up))
        marks = stride(from: first, through: last, by: 1).map { $0 * step }
        self.lowest = first * step
        self.highest = last * step
    }

    /// The relative position of a value: 0 at the lowest, 1 at the highest.
    func share(_ value: Double) -> Double {
        (value - lowest) / (highest - lowest)
    }

    /// A short decimal form.
    static func label(_ value: Double) -> String {
        if abs(value) >= 1_000_000 { return String(format: "%g M", value / 1e6) }
        if abs(value) >= 10_000 { return String(format: "%g k", value / 1e3) }
        return String(format: "%g", (value * 1e6).rounded() / 1e6)
    }
}
