internal import Foundation
internal import Glibc

/// Identifies a process across machines and reboots. Process identifiers (PIDs) alone are reused, in containers often at once.
struct ProcessIdentity: Hashable {
    let host: String
    let process: Int32
    /// Identifies the machine's boot, and the PID namespace.
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

    /// Nil if the text does not have the format of `text`.
    init?(text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let process = Int32(parts[1]) else { return nil }
        (host, self.process, machine, startTime) = (parts[0], process, parts[2], parts[3])
    }

    var text: String { "\(host) \(process) \(machine) \(startTime)" }

    /// Whether the process has certainly ended. False for processes of other machines and containers, about which nothing is known.
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

    /// Nil if there is no such process, or if it is hidden from this one.
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
