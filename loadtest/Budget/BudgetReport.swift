import COpenSSL
import Foundation

/// The measured costs and their limits.
struct BudgetReport {
    let frame: FrameCost
    let connectionBytes: Int

    struct Line: Encodable {
        let what: String
        let found: Double
        let limit: Double
    }

    var lines: [Line] {
        [
            Line(what: "allocations in the quieter half of the frames", found: Double(frame.allocations), limit: 0),
            Line(what: "recv per frame", found: frame.perFrame(frame.receives), limit: 1.15),
            Line(what: "send per frame", found: frame.perFrame(frame.sends), limit: 1.15),
            Line(what: "epoll_wait per frame", found: frame.perFrame(frame.waits), limit: 1.05),
            Line(what: "epoll_ctl and ioctl per frame", found: frame.perFrame(frame.others), limit: 0.15),
            Line(what: "bytes allocated per idle connection", found: Double(connectionBytes), limit: Self.connectionBytesMax),
        ]
    }

    /// Each `SSL` of OpenSSL 3.2 and later owns two record layers.
    private static var connectionBytesMax: Double {
        (OPENSSL_version_major(), OPENSSL_version_minor()) < (3, 2) ? 8_192 : 27_648
    }

    var isWithinBudget: Bool { frame.frames > 20_000 && lines.allSatisfy { $0.found <= $0.limit } }

    var text: String {
        let rows = lines.map { line in
            let found = line.found >= 100 || line.found == 0 ? String(Int(line.found)) : String(format: "%.3f", line.found)
            let limit = line.limit == line.limit.rounded() ? String(Int(line.limit)) : String(line.limit)
            return "  \(line.found <= line.limit ? "ok  " : "OVER")  \(found.padding(toLength: 8, withPad: " ", startingAt: 0))"
                + "at most \(limit.padding(toLength: 8, withPad: " ", startingAt: 0))\(line.what)"
        }
        return "\(frame.frames) frames relayed\n" + rows.joined(separator: "\n")
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            struct Report: Encodable {
                let frames: UInt64
                let lines: [Line]
            }
            return String(decoding: try encoder.encode(Report(frames: frame.frames, lines: lines)), as: UTF8.self)
        }
    }
}
