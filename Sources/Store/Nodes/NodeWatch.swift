internal import Foundation
internal import Glibc

/// Decides which nodes have ended, from repeated observations of their beats. No clocks are compared: a node has ended if its beat has not
/// changed during `StoreLimits.nodeSilence` of the observer's monotonic time.
struct NodeWatch {
    private struct Sight {
        var beat: Int64
        /// When the beat was first seen.
        var since: ContinuousClock.Instant
    }

    private var sights: [NodeID: Sight] = [:]
    private var lastObservation: ContinuousClock.Instant?

    /// - Parameters:
    ///   - beats: of all other nodes.
    /// - Returns: the nodes that have ended.
    mutating func observe(_ beats: [NodeID: Int64], at now: ContinuousClock.Instant) -> [NodeID] {
        // While this process or the database stood still, so may the others.
        if let last = lastObservation, now - last > StoreLimits.nodeObservationGapMax { sights = [:] }
        lastObservation = now
        sights = beats.reduce(into: [:]) { next, node in
            let known = sights[node.key]
            next[node.key] = known?.beat == node.value ? known : Sight(beat: node.value, since: now)
        }
        return sights.filter { now - $0.value.since >= StoreLimits.nodeSilence }.map(\.key)
    }
}

/// A process among all processes of all machines since their boots.
///
/// The identifier of a process alone is used again, in containers often at once.
struct ProcessIdentity: Hashable {
    let host: String
    let process: Int32
    /// The machine's boot, and the namespace of process identifiers.
    private let machine: String
    /// In clock ticks after the boot: proc_pid_stat(5), `starttime`.
    private let startTime: String

    static let current = ProcessIdentity()

    private init() {
        process = getpid()
        let boot = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
        let namespace = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")) ?? ""
        machine = boot.trimmingCharacters(in: .whitespacesAndNewlines) + namespace
        startTime = Self.startTime(of: process) ?? ""
        host = Self.hostName()
    }

    /// Nil for a text that no process has written.
    init?(text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let process = Int32(parts[1]) else { return nil }
        (host, self.process, machine, startTime) = (parts[0], process, parts[2], parts[3])
    }

    var text: String { "\(host) \(process) \(machine) \(startTime)" }

    /// Whether the process has certainly ended; false also if it ran on another machine or in another container, of which nothing is known.
    var isGone: Bool {
        guard machine == Self.current.machine else { return false }
        if kill(process, 0) != 0, errno == ESRCH { return true }
        guard let found = Self.startTime(of: process) else { return false }
        return found != startTime
    }

    private static func hostName() -> String {
        var name = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
        guard gethostname(&name, name.count - 1) == 0 else { return "localhost" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Nil if there is no such process, or it must not be seen.
    private static func startTime(of process: Int32) -> String? {
        // The name of the program, in parentheses, may contain blanks.
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8), let end = stat.lastIndex(of: ")") else {
            return nil
        }
        let fields = stat[stat.index(after: end)...].split(separator: " ")
        return fields.count > 19 ? String(fields[19]) : nil
    }
}

extension ProcessIdentity: CustomStringConvertible {
    var description: String { "process \(process) on \(host)" }
}
