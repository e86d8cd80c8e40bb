import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.transport.Netty4Plugin;

/**
 * Starts one OpenSearch node; each system property that begins with {@code node.setting.} is a setting of it, and
 * {@code node.plugins} has the classes of its plugins, between commas.
 */
public final class ClusterNode extends Node {

    private static final String PREFIX = "node.setting.";

    @SuppressWarnings("unchecked")
    private static List<Class<? extends Plugin>> plugins() throws ClassNotFoundException {
        List<Class<? extends Plugin>> classes = new ArrayList<>(List.of(Netty4Plugin.class));
        for (String name : System.getProperty("node.plugins", "").split(",")) {
            if (!name.isEmpty()) {
                classes.add((Class<? extends Plugin>) Class.forName(name));
            }
        }
        return classes;
    }

    private ClusterNode(Settings settings) throws ClassNotFoundException {
        super(
            InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), Path.of(settings.get("path.home")), () -> "node"),
            plugins(),
            false
        );
    }

    public static void main(String[] arguments) throws Exception {
        Settings.Builder settings = Settings.builder();
        Properties properties = System.getProperties();
        for (String name : properties.stringPropertyNames()) {
            if (name.startsWith(PREFIX)) {
                settings.put(name.substring(PREFIX.length()), properties.getProperty(name));
            }
        }
        ClusterNode node = new ClusterNode(settings.build());
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                node.close();
            } catch (Exception error) {
                error.printStackTrace();
            } finally {
                ended.countDown();
            }
        }));
        node.start();
        ended.await();
    }
}
