internal import Foundation

/// Values to places on paper, with marks at round numbers.
struct PlotScale: Sendable {
    let lowest: Double
    let highest: Double
    let marks: [Double]

    /// From 0 (or `from`) to a round number at or above `highest`.
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

    /// 0 at the lowest, 1 at the highest.
    func share(_ value: Double) -> Double {
        (value - lowest) / (highest - lowest)
    }

    /// As short as it may be.
    static func label(_ value: Double) -> String {
        if abs(value) >= 1_000_000 { return String(format: "%g M", value / 1e6) }
        if abs(value) >= 10_000 { return String(format: "%g k", value / 1e3) }
        return String(format: "%g", (value * 1e6).rounded() / 1e6)
    }
}
