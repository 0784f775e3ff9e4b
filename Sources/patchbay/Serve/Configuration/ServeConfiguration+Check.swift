import Foundation
import Gateway
import Identity
import Sockets
import Store
import TLSRecords
import Wire

/// A result of `serve --check`.
struct CheckResult: Encodable {
    enum Status: String, Encodable {
        case ok, warning, error
    }

    var status = Status.ok
    /// The item checked, such as "certificate". Nil for warnings and errors, which name it in `text`.
    var subject: String?
    var text: String
}

extension CheckResult: CustomStringConvertible {
    var description: String { "\(subject ?? status.rawValue): \(text)" }
}

extension ServeConfiguration {
    /// `serve --check`: tests everything that could prevent the gateway from starting or from serving clients. Creates and changes nothing.
    ///
    /// - Parameter report: called with a result per check, and with a warning per questionable setting.
    /// - Returns: the exit code, that of `serve` if it would not start.
    func check(_ report: (CheckResult) -> Void) -> Int32 {
        func ok(_ subject: String, _ text: String) { report(CheckResult(subject: subject, text: text)) }
        func warn(_ text: String) { report(CheckResult(status: .warning, text: text)) }
        var exitCode: Int32 = 0
        func attempt(_ check: () throws -> Void) {
            do { try check() } catch {
                report(CheckResult(status: .error, text: "\(error)"))
                exitCode = max(exitCode, Main.status(of: error))
            }
        }
        ok("configuration", "ok")
        warnings.forEach(warn)
        attempt {
            let (certificate, problems) = try checkedCertificate()
            let names = certificate.names.isEmpty ? "no name" : certificate.names.joined(separator: ", ")
            let files = "\(settings.tls.certificatePath) with \(settings.tls.privateKeyPath)"
            ok("certificate", "\(files): ok, for \(names), until \(WallTime(milliseconds: certificate.expires * 1_000))")
            for problem in problems { warn("\(settings.tls.certificatePath): \(problem.text)") }
        }
        ok("keys", "\(keys.issuers.joined(separator: ", ")): ok")
        if !assistants.isEmpty { ok("assistants", "\(assistants.map(\.id).joined(separator: ", ")): ok") }
        if let store { attempt { ok("store", "\(store.name): \(try store.check())") } } else { ok("store", "none") }
        attempt {
            try bindPorts()
            ok("ports", "\(listed(["port", "shard_ports"])) on \(settings.host): ok")
            if let plain = settings.edge.plain { ok("plain port for proxies", "\(listed(["plain_port"])) on \(plain.host): ok") }
            if let place = settings.edge.operations { ok("metrics port", "\(listed(["metrics_port"])) on \(place.host): ok") }
        }
        ok("TLS fast path", "\(settings.fastPath.isActive ? "on" : "off") (\(settings.fastPath.reason))")
        ok("open files", "at most \(DescriptorLimit.raise())")
        return exitCode
    }

    private func checkedCertificate() throws -> (ServerCertificate, [CertificateCheck.Problem]) {
        let certificate = try settings.tls.check()
        let problems = CertificateCheck.problems(certificate, publicURL: publicURL, now: WallClock.seconds)
        if let fatal = problems.first(where: \.isFatal) { throw CommandFailure("\(settings.tls.certificatePath): \(fatal.text)") }
        return (certificate, problems)
    }

    /// Binds each port once.
    private func bindPorts() throws {
        for (name, place) in settings.ports {
            do {
                try Listener(host: place.host, port: place.port, shared: false).close()
            } catch {
                var error = error
                error.setting = "`\(name)`"
                throw error
            }
        }
    }

    private func listed(_ names: Set<String>) -> String {
        settings.ports.filter { names.contains($0.name) }.map { $0.place.port == 0 ? "any free one" : "\($0.place.port)" }
            .joined(separator: ", ")
    }
}

/// Finds problems of a certificate that can be loaded. A pure function of the certificate and the time.
enum CertificateCheck {
    struct Problem: Hashable {
        /// A sentence that names the remedy, too.
        var text: String
        /// No client would connect.
        var isFatal: Bool
    }

    /// A certificate that expires sooner should have been renewed: ACME clients do so 30 days before.
    static let renewalDays: Int64 = 14

    /// - Parameters:
    ///   - publicURL: the URL given to clients; nil if unknown.
    ///   - now: seconds since 1970.
    static func problems(_ certificate: ServerCertificate, publicURL: String?, now: Int64) -> [Problem] {
        var problems: [Problem] = []
        let (begins, expires) = (WallTime(milliseconds: certificate.begins * 1_000), WallTime(milliseconds: certificate.expires * 1_000))
        let daysLeft = (certificate.expires - now) / 86_400
        if now >= certificate.expires {
            problems.append(Problem(text: "the certificate expired at \(expires); renew it", isFatal: true))
        } else if now < certificate.begins {
            problems.append(Problem(text: "the certificate is valid only from \(begins) on; check this machine's clock", isFatal: true))
        } else if daysLeft < renewalDays {
            problems.append(Problem(text: "the certificate expires in \(daysLeft) days, at \(expires); renew it", isFatal: false))
        }
        if certificate.names.isEmpty {
            problems.append(
                Problem(text: "the certificate names no host (subjectAltName), so no client accepts it; issue another one", isFatal: true))
        } else if let host = publicURL.flatMap({ URLComponents(string: $0)?.host }).map(bare), !certificate.covers(host) {
            problems.append(
                Problem(
                    text: """
                        the certificate is for \(certificate.names.joined(separator: ", ")) and not for \(host), the host of `public_url`; \
                        clients that connect without a proxy refuse it
                        """,
                    isFatal: false))
        }
        return problems
    }

    /// Without the brackets of an IPv6 address.
    private static func bare(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }
}
