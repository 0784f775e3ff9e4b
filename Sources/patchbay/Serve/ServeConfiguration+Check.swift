import Foundation
import Gateway
import Identity
import Sockets
import Store
import Wire

extension ServeConfiguration {
    /// `serve --check`: tests everything that could prevent the gateway from starting or from serving clients. Prints a line per check, and a
    /// warning per questionable setting. Creates and changes nothing.
    ///
    /// - Returns: false if a check failed.
    func check() -> Bool {
        Console.say("configuration: ok")
        for warning in warnings { Console.say("warning: \(warning)") }
        var isSound = perform(checkCertificate)
        Console.say("keys: \(keys.issuers.joined(separator: ", ")): ok")
        if !assistants.isEmpty { Console.say("assistants: \(assistants.map(\.id).joined(separator: ", ")): ok") }
        if let store {
            isSound = perform { Console.say("store: \(store.directory): \(try store.check())") } && isSound
        } else {
            Console.say("store: none")
        }
        isSound = perform(checkPorts) && isSound
        let fastPath = settings.recordLayer?.state ?? .notLinked
        Console.say("TLS fast path: \(fastPath.isActive ? "on" : "off") (\(fastPath.reason))")
        Console.say("open files: at most \(DescriptorLimit.raise())")
        return isSound
    }

    /// Prints the error of a check.
    private func perform(_ check: () throws -> Void) -> Bool {
        do {
            try check()
            return true
        } catch {
            Console.say("error: \(error)")
            return false
        }
    }

    private func checkCertificate() throws {
        let certificate = try settings.tls.check()
        let problems = CertificateCheck.problems(certificate, publicURL: publicURL, now: WallClock.seconds)
        if let fatal = problems.first(where: \.isFatal) { throw UsageError("\(settings.tls.certificatePath): \(fatal.text)") }
        let names = certificate.names.isEmpty ? "no name" : certificate.names.joined(separator: ", ")
        Console.say(
            """
            certificate: \(settings.tls.certificatePath) with \(settings.tls.privateKeyPath): ok, for \(names), until \
            \(WallTime(milliseconds: certificate.expires * 1_000))
            """)
        for problem in problems { Console.say("warning: \(settings.tls.certificatePath): \(problem.text)") }
    }

    private func checkPorts() throws {
        for (name, place) in settings.ports {
            do {
                try Listener(host: place.host, port: place.port, shared: false).close()
            } catch {
                var error = error
                error.setting = "`\(name)`"
                throw UsageError("\(error)")
            }
        }
        func listed(_ names: Set<String>) -> String {
            settings.ports.filter { names.contains($0.name) }.map { $0.place.port == 0 ? "any free one" : "\($0.place.port)" }
                .joined(separator: ", ")
        }
        Console.say("ports: \(listed(["port", "shard_ports"])) on \(settings.host): ok")
        if let plain = settings.edge.plain { Console.say("plain port for proxies: \(listed(["plain_port"])) on \(plain.host): ok") }
        if let place = settings.edge.operations { Console.say("metrics port: \(listed(["metrics_port"])) on \(place.host): ok") }
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
