import CallCounter
import Foundation

/// What one idle connection takes of memory, in bytes.
struct ConnectionCost {
    /// All in, as the system sees it.
    let resident: Int
    /// Of the heap, by whose code asked for it.
    let openSSL: Int
    let lws: Int
    let ours: Int

    struct Sample {
        let resident = Self.residentBytes
        let openSSL = call_counter_bytes(call_counter_openssl)
        let lws = call_counter_bytes(call_counter_lws)
        let ours = call_counter_bytes(call_counter_ours)

        private static var residentBytes: Int {
            let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
            return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
        }
    }

    init(of connections: Int, from before: Sample, to after: Sample) {
        resident = (after.resident - before.resident) / connections
        openSSL = (after.openSSL - before.openSSL) / connections
        lws = (after.lws - before.lws) / connections
        ours = (after.ours - before.ours) / connections
    }
}
