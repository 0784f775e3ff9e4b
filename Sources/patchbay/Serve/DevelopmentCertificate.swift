import Foundation
import Sockets

/// The certificate of `--dev` and `demo`: one per user, in the state directory, so that it is found from any directory.
struct DevelopmentCertificate: Sendable, Hashable {
    /// Certificates are made for 825 days and renewed 30 days before they expire.
    private static let renewedAfter: TimeInterval = (825 - 30) * 86_400

    let directory: String

    var files: TLSFiles { TLSFiles(certificatePath: directory + "/server.cert.pem", privateKeyPath: directory + "/server.key.pem") }
    /// The authority that clients must trust.
    var authorityPath: String { directory + "/ca.cert.pem" }

    /// Makes the certificate if there is none or if it is about to expire.
    ///
    /// - Throws: `UsageError`, with the remedy.
    static func prepare(
        environment: [String: String] = ProcessInfo.processInfo.environment, at date: Date = Date()
    ) throws -> DevelopmentCertificate {
        let certificate = DevelopmentCertificate(directory: stateDirectory(environment) + "/dev-certs")
        if !certificate.isUsable(at: date) { try certificate.make() }
        return certificate
    }

    /// `$XDG_STATE_HOME/patchbay`, else `~/.local/state/patchbay` (XDG Base Directory Specification, which has relative paths ignored).
    static func stateDirectory(_ environment: [String: String]) -> String {
        if let path = environment["XDG_STATE_HOME"], path.hasPrefix("/") { return path + "/patchbay" }
        return (environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()) + "/.local/state/patchbay"
    }

    private func isUsable(at date: Date) -> Bool {
        [files.certificatePath, files.privateKeyPath, authorityPath].allSatisfy { path in
            let made = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            return made.map { date.timeIntervalSince($0) < Self.renewedAfter } ?? false
        }
    }

    /// Runs `certs/make-dev-certs`, which this executable contains.
    private func make() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["bash", "-s", "--", "--dir", directory]
        let (script, output) = (Pipe(), Pipe())
        process.standardInput = script
        process.standardOutput = output
        process.standardError = output
        let said: String
        do {
            try process.run()
            // Smaller than a pipe's buffer.
            try script.fileHandleForWriting.write(contentsOf: Data(PackageResources.make_dev_certs))
            try script.fileHandleForWriting.close()
            said = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        } catch {
            throw UsageError("cannot make a development certificate: \(error); pass --cert and --key instead of the one of --dev")
        }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            let reason = said.split(separator: "\n").last.map(String.init) ?? "bash failed"
            throw UsageError(
                "cannot make a development certificate in \(directory): \(reason); set XDG_STATE_HOME to a directory that you may write to")
        }
        if !said.isEmpty { Console.complain(said.trimmingCharacters(in: .newlines)) }
    }
}
