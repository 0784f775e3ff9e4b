import Foundation
import PatchbayClient
import Wire

/// Prints events on standard output, one per line.
struct EventView: Sendable {
    enum Form: Sendable {
        case none, json, readable
    }

    let form: Form

    func show(_ event: RoomEvent) {
        switch form {
        case .none: break
        case .json: Console.say(EventJSON.line(event))
        case .readable: if let text = EventText.describe(event) { Console.say("\(Self.timeOfDay)  \(text)") }
        }
    }

    /// Printed for scripts only; people read the summary.
    func show(_ report: PlayoutReport) {
        if form == .json { Console.say(EventJSON.line(report)) }
    }

    /// Local time to the millisecond.
    static var timeOfDay: String {
        let now = Date()
        let parts = Calendar.current.dateComponents([.hour, .minute, .second, .nanosecond], from: now)
        return String(
            format: "%02d:%02d:%02d.%03d", parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0, (parts.nanosecond ?? 0) / 1_000_000)
    }
}
