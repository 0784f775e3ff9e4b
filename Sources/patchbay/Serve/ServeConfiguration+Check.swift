import Foundation
import Gateway
import Identity
import Sockets
import Wire

extension ServeConfiguration {
    /// `serve --check`: tests everything that could keep the gateway from starting, and prints one line per check.
    ///
    /// - Throws: `UsageError` for the first failed check.
    func check() throws {
        Console.say("configuration: ok")
        do {
            try settings.tls.check()
            Console.say("certificate: \(settings.tls.certificatePath) with \(settings.tls.privateKeyPath): ok")
        } catch {
            throw UsageError("\(error)")
        }
        Console.say("keys: ok")
        if !assistants.isEmpty { Console.say("assistants: \(assistants.map(\.id).joined(separator: ", ")): ok") }
        if let store {
            try Self.checkWritable(store.directory)
            Console.say("store: \(store.directory): ok")
        } else {
            Console.say("store: none")
        }
        try checkPorts()
        let fastPath = settings.recordLayer?.state ?? .notLinked
        Console.say("TLS fast path: \(fastPath.isActive ? "on" : "off") (\(fastPath.reason))")
        Console.say("open files: at most \(DescriptorLimit.raise())")
    }

    private func checkPorts() throws {
        var ports = [settings.port]
        if settings.shardCount > 1, settings.shardPortsFrom > 0 {
            ports += (0..<settings.shardCount).map { settings.shardPortsFrom + $0 }
        }
        for port in ports {
            do {
                try Listener(host: settings.host, port: port, shared: false).close()
            } catch {
                throw UsageError("\(error)")
            }
        }
        Console.say("ports: \(ports.map { $0 == 0 ? "any free one" : "\($0)" }.joined(separator: ", ")) on \(settings.host): ok")
    }

    private static func checkWritable(_ directory: String) throws {
        let probe = directory + "/.patchbay-check-\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: probe, contents: nil) else {
            throw UsageError("data: cannot write to \(directory); check its owner and permissions")
        }
        try? FileManager.default.removeItem(atPath: probe)
    }
}
