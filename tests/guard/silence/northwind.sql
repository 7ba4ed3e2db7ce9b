-- Revenue of each product
SELECT p.product_name, SUM(od.unit_price * od.quantity * (1 - od.discount)) AS revenue FROM order_details od JOIN products p ON p.product_id = od.product_id GROUP BY p.product_id, p.product_name ORDER BY revenue DESC;

-- Revenue of each category
SELECT c.category_name, SUM(od.unit_price * od.quantity) AS revenue FROM order_details od JOIN products p USING (product_id) JOIN categories c USING (category_id) GROUP BY c.category_id, c.category_name;

-- Freight paid by each customer
SELECT c.company_name, SUM(o.freight) FROM customers c JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.customer_id, c.company_name;

-- Freight by shipper
SELECT s.company_name, SUM(o.freight) AS freight, COUNT(*) AS orders FROM orders o JOIN shippers s ON s.shipper_id = o.ship_via GROUP BY s.shipper_id, s.company_name;

-- Order value with freight
SELECT o.order_id, o.freight, x.goods FROM orders o JOIN (SELECT order_id, SUM(unit_price * quantity) AS goods FROM order_details GROUP BY order_id) x ON x.order_id = o.order_id;

-- Freight and goods by country
WITH goods AS (SELECT order_id, SUM(unit_price * quantity) AS value FROM order_details GROUP BY order_id)
SELECT o.ship_country, SUM(o.freight) AS freight, SUM(goods.value) AS goods FROM orders o JOIN goods ON goods.order_id = o.order_id GROUP BY o.ship_country;

-- Freight of each order, with its goods
SELECT o.order_id, o.freight, SUM(od.unit_price * od.quantity) AS goods FROM orders o JOIN order_details od ON od.order_id = o.order_id GROUP BY o.order_id, o.freight;

-- Number of orders and lines of each customer
SELECT c.company_name, COUNT(DISTINCT o.order_id) AS orders, COUNT(*) AS lines FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN order_details od ON od.order_id = o.order_id GROUP BY c.customer_id, c.company_name;

-- Customers without orders
SELECT c.company_name FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id WHERE o.order_id IS NULL;

-- Customers without orders, another way
SELECT company_name FROM customers WHERE customer_id NOT IN (SELECT customer_id FROM orders WHERE customer_id IS NOT NULL);

-- Orders per employee
SELECT e.first_name, e.last_name, COUNT(o.order_id) FROM employees e LEFT JOIN orders o ON o.employee_id = e.employee_id GROUP BY e.employee_id, e.first_name, e.last_name;

-- Sales by employee and year
SELECT e.last_name, SUBSTR(CAST(o.order_date AS VARCHAR), 1, 4) AS year, SUM(od.unit_price * od.quantity) AS sales
FROM employees e JOIN orders o ON o.employee_id = e.employee_id JOIN order_details od ON od.order_id = o.order_id
GROUP BY e.employee_id, e.last_name, SUBSTR(CAST(o.order_date AS VARCHAR), 1, 4);

-- Territories of each employee
SELECT e.last_name, t.territory_description FROM employees e JOIN employee_territories et ON et.employee_id = e.employee_id JOIN territories t ON t.territory_id = et.territory_id;

-- Number of territories by employee
SELECT e.last_name, COUNT(*) FROM employees e JOIN employee_territories et ON et.employee_id = e.employee_id GROUP BY e.employee_id, e.last_name;

-- Which regions does each employee serve?
SELECT DISTINCT e.last_name, r.region_description FROM employees e JOIN employee_territories et ON et.employee_id = e.employee_id JOIN territories t ON t.territory_id = et.territory_id JOIN region r ON r.region_id = t.region_id;

-- Number of employees by region
SELECT r.region_description, COUNT(DISTINCT et.employee_id) FROM region r JOIN territories t ON t.region_id = r.region_id JOIN employee_territories et ON et.territory_id = t.territory_id GROUP BY r.region_id, r.region_description;

-- Sales by region, each order counted for every region its employee serves
SELECT r.region_description, COUNT(DISTINCT o.order_id) AS orders
FROM region r JOIN territories t ON t.region_id = r.region_id JOIN employee_territories et ON et.territory_id = t.territory_id JOIN orders o ON o.employee_id = et.employee_id
GROUP BY r.region_id, r.region_description;

-- Products that are out of stock
SELECT product_name FROM products WHERE units_in_stock = 0;

-- Stock value by category
SELECT c.category_name, SUM(p.unit_price * p.units_in_stock) FROM products p JOIN categories c ON c.category_id = p.category_id GROUP BY c.category_id, c.category_name;

-- Stock value by supplier country
SELECT s.country, SUM(p.unit_price * p.units_in_stock) FROM suppliers s JOIN products p ON p.supplier_id = s.supplier_id GROUP BY s.country;

-- Products above the average price of their category
SELECT p.product_name, p.unit_price FROM products p JOIN (SELECT category_id, AVG(unit_price) AS price FROM products GROUP BY category_id) a ON a.category_id = p.category_id WHERE p.unit_price > a.price;

-- The most expensive product of each category
SELECT c.category_name, p.product_name, p.unit_price FROM products p JOIN categories c ON c.category_id = p.category_id WHERE p.unit_price = (SELECT MAX(p2.unit_price) FROM products p2 WHERE p2.category_id = p.category_id);

-- Orders shipped late
SELECT order_id, required_date, shipped_date FROM orders WHERE shipped_date > required_date;

-- Share of late orders by shipper
SELECT s.company_name, AVG(CASE WHEN o.shipped_date > o.required_date THEN 1.0 ELSE 0.0 END) AS late FROM orders o JOIN shippers s ON s.shipper_id = o.ship_via GROUP BY s.shipper_id, s.company_name;

-- Countries where we have both customers and suppliers
SELECT country FROM customers INTERSECT SELECT country FROM suppliers;

-- Cities of customers and suppliers
SELECT city, country, 'customer' AS kind FROM customers UNION SELECT city, country, 'supplier' FROM suppliers;

-- Suppliers and customers in the same city
SELECT s.company_name AS supplier, c.company_name AS customer, c.city FROM suppliers s JOIN customers c ON c.city = s.city;

-- Which products does customer ALFKI buy?
SELECT DISTINCT p.product_name FROM orders o JOIN order_details od ON od.order_id = o.order_id JOIN products p ON p.product_id = od.product_id WHERE o.customer_id = 'ALFKI';

-- Everything ALFKI ordered, line by line
SELECT o.order_date, p.product_name, od.quantity FROM orders o JOIN order_details od ON od.order_id = o.order_id JOIN products p ON p.product_id = od.product_id WHERE o.customer_id = 'ALFKI' ORDER BY o.order_date;

-- Average order value
SELECT AVG(value) FROM (SELECT order_id, SUM(unit_price * quantity * (1 - discount)) AS value FROM order_details GROUP BY order_id) x;

-- Average order value by country
SELECT o.ship_country, SUM(od.unit_price * od.quantity) / COUNT(DISTINCT o.order_id) AS average FROM orders o JOIN order_details od ON od.order_id = o.order_id GROUP BY o.ship_country;

-- Average number of lines per order
SELECT 1.0 * COUNT(*) / COUNT(DISTINCT order_id) FROM order_details;

-- Average freight per customer country
SELECT c.country, AVG(o.freight) FROM customers c JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.country;

-- Number of different products ordered by each customer
SELECT c.company_name, COUNT(DISTINCT od.product_id) FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN order_details od ON od.order_id = o.order_id GROUP BY c.customer_id, c.company_name;

-- Products never ordered
SELECT p.product_name FROM products p WHERE NOT EXISTS (SELECT 1 FROM order_details od WHERE od.product_id = p.product_id);

-- How many orders contain a discounted line?
SELECT COUNT(DISTINCT order_id) FROM order_details WHERE discount > 0;

-- Which orders contain a discounted line?
SELECT o.order_id, o.order_date FROM orders o WHERE EXISTS (SELECT 1 FROM order_details od WHERE od.order_id = o.order_id AND od.discount > 0);

-- Discount given in all
SELECT SUM(unit_price * quantity * discount) FROM order_details;

-- Quantity sold by supplier
SELECT s.company_name, SUM(od.quantity) FROM suppliers s JOIN products p ON p.supplier_id = s.supplier_id JOIN order_details od ON od.product_id = p.product_id GROUP BY s.supplier_id, s.company_name;

-- Products by supplier, with price
SELECT s.company_name, p.product_name, p.unit_price FROM suppliers s JOIN products p ON p.supplier_id = s.supplier_id ORDER BY s.company_name;

-- Employees and their managers
SELECT e.last_name, m.last_name AS manager FROM employees e LEFT JOIN employees m ON m.employee_id = e.reports_to;

-- Managers with the sales of their people
SELECT m.last_name, SUM(od.unit_price * od.quantity) AS sales FROM employees m JOIN employees e ON e.reports_to = m.employee_id JOIN orders o ON o.employee_id = e.employee_id JOIN order_details od ON od.order_id = o.order_id GROUP BY m.employee_id, m.last_name;

-- Months with the most orders
SELECT SUBSTR(CAST(order_date AS VARCHAR), 1, 7) AS month, COUNT(*) AS n FROM orders GROUP BY SUBSTR(CAST(order_date AS VARCHAR), 1, 7) ORDER BY n DESC LIMIT 3;

-- Running freight of each customer
SELECT customer_id, order_id, freight, SUM(freight) OVER (PARTITION BY customer_id ORDER BY order_id) AS running FROM orders;

-- The three biggest orders of each customer
WITH v AS (SELECT o.customer_id, o.order_id, SUM(od.unit_price * od.quantity) AS value FROM orders o JOIN order_details od ON od.order_id = o.order_id GROUP BY o.customer_id, o.order_id)
SELECT customer_id, order_id, value FROM (SELECT v.*, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY value DESC) AS r FROM v) x WHERE r <= 3;

-- Reorder list
SELECT p.product_name, s.company_name, s.phone FROM products p JOIN suppliers s ON s.supplier_id = p.supplier_id WHERE p.units_in_stock + p.units_on_order < p.reorder_level AND p.discontinued = 0;

-- Value of orders by quarter
SELECT SUBSTR(CAST(o.order_date AS VARCHAR), 1, 4) AS year, (CAST(SUBSTR(CAST(o.order_date AS VARCHAR), 6, 2) AS INTEGER) + 2) / 3 AS quarter, SUM(od.unit_price * od.quantity)
FROM orders o JOIN order_details od ON od.order_id = o.order_id GROUP BY 1, 2 ORDER BY 1, 2;

-- Customers who ordered in 1996 but not in 1998
SELECT company_name FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE SUBSTR(CAST(order_date AS VARCHAR), 1, 4) = '1996') AND customer_id NOT IN (SELECT customer_id FROM orders WHERE SUBSTR(CAST(order_date AS VARCHAR), 1, 4) = '1998' AND customer_id IS NOT NULL);

-- Customers who bought from every category
SELECT c.company_name FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN order_details od ON od.order_id = o.order_id JOIN products p ON p.product_id = od.product_id
GROUP BY c.customer_id, c.company_name HAVING COUNT(DISTINCT p.category_id) = (SELECT COUNT(*) FROM categories);

-- Largest order by value
SELECT order_id, SUM(unit_price * quantity) AS value FROM order_details GROUP BY order_id ORDER BY value DESC LIMIT 1;

-- Number of orders by ship country, only those with more than fifty
SELECT ship_country, COUNT(*) FROM orders GROUP BY ship_country HAVING COUNT(*) > 50;

-- Orders with customer, employee and shipper names
SELECT o.order_id, c.company_name, e.last_name, s.company_name AS shipper FROM orders o JOIN customers c ON c.customer_id = o.customer_id JOIN employees e ON e.employee_id = o.employee_id JOIN shippers s ON s.shipper_id = o.ship_via;

-- Countries of customers
SELECT DISTINCT country FROM customers ORDER BY country;

-- Days to ship, by shipper
SELECT s.company_name, MIN(o.shipped_date), MAX(o.shipped_date) FROM shippers s JOIN orders o ON o.ship_via = s.shipper_id WHERE o.shipped_date IS NOT NULL GROUP BY s.shipper_id, s.company_name;

-- Price list by category
SELECT c.category_name, p.product_name, p.unit_price FROM categories c JOIN products p ON p.category_id = c.category_id WHERE p.discontinued = 0 ORDER BY c.category_name, p.product_name;

-- List price against average price sold
SELECT p.product_name, p.unit_price AS list, AVG(od.unit_price) AS sold FROM products p JOIN order_details od ON od.product_id = p.product_id GROUP BY p.product_id, p.product_name, p.unit_price;

-- Products whose sales exceed 20000
SELECT p.product_name FROM products p JOIN order_details od ON od.product_id = p.product_id GROUP BY p.product_id, p.product_name HAVING SUM(od.unit_price * od.quantity) > 20000;

-- The customers of each employee
SELECT DISTINCT e.last_name, c.company_name FROM employees e JOIN orders o ON o.employee_id = e.employee_id JOIN customers c ON c.customer_id = o.customer_id;

-- Total freight of orders that contain seafood
SELECT SUM(o.freight) FROM orders o WHERE o.order_id IN (SELECT od.order_id FROM order_details od JOIN products p ON p.product_id = od.product_id JOIN categories c ON c.category_id = p.category_id WHERE c.category_name = 'Seafood');

-- Units in stock per category and average price, products counted once
SELECT c.category_name, COUNT(p.product_id), AVG(p.unit_price), SUM(p.units_in_stock) FROM categories c LEFT JOIN products p ON p.category_id = c.category_id GROUP BY c.category_id, c.category_name;

-- Each shipper's share of freight
SELECT s.company_name, 100.0 * SUM(o.freight) / (SELECT SUM(freight) FROM orders) AS share FROM orders o JOIN shippers s ON s.shipper_id = o.ship_via GROUP BY s.shipper_id, s.company_name;

-- Contacts of customers in Germany
SELECT contact_name, phone FROM customers WHERE country = 'Germany';

-- Order counts of customers by number of orders
SELECT orders, COUNT(*) AS customers FROM (SELECT c.customer_id, COUNT(o.order_id) AS orders FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.customer_id) x GROUP BY orders ORDER BY orders;

-- Orders where one line makes more than half of the value
SELECT od.order_id, od.product_id FROM order_details od WHERE od.unit_price * od.quantity > 0.5 * (SELECT SUM(x.unit_price * x.quantity) FROM order_details x WHERE x.order_id = od.order_id);

-- Gap to the previous order of the customer
SELECT customer_id, order_id, order_date, LAG(order_date) OVER (PARTITION BY customer_id ORDER BY order_date, order_id) AS previous FROM orders;

-- Product price rank within its category
SELECT c.category_name, p.product_name, RANK() OVER (PARTITION BY c.category_id ORDER BY p.unit_price DESC) AS place FROM products p JOIN categories c ON c.category_id = p.category_id;

-- Which employees live in the same city as one of our customers?
SELECT e.last_name, e.city FROM employees e WHERE e.city IN (SELECT city FROM customers);

-- Ship cities per customer
SELECT c.company_name, COUNT(DISTINCT o.ship_city) AS cities FROM customers c JOIN orders o ON o.customer_id = c.customer_id GROUP BY c.customer_id, c.company_name HAVING COUNT(DISTINCT o.ship_city) > 1;

-- Revenue of 1997 by category and employee
SELECT c.category_name, e.last_name, SUM(od.unit_price * od.quantity)
FROM order_details od JOIN orders o ON o.order_id = od.order_id JOIN products p ON p.product_id = od.product_id JOIN categories c ON c.category_id = p.category_id JOIN employees e ON e.employee_id = o.employee_id
WHERE SUBSTR(CAST(o.order_date AS VARCHAR), 1, 4) = '1997' GROUP BY c.category_id, c.category_name, e.employee_id, e.last_name;

-- Freight attributed to each product line: an order's freight for each of its lines
SELECT od.product_id, o.freight FROM orders o JOIN order_details od ON od.order_id = o.order_id;

-- Average freight of orders that contain each product
SELECT p.product_name, AVG(o.freight) FROM products p JOIN order_details od ON od.product_id = p.product_id JOIN orders o ON o.order_id = od.order_id GROUP BY p.product_id, p.product_name;

-- Freight of the orders in which each product occurs
SELECT od.product_id, SUM(o.freight) FROM order_details od JOIN orders o ON o.order_id = od.order_id GROUP BY od.product_id;

-- Value at list price of everything sold
SELECT SUM(p.unit_price * od.quantity) FROM order_details od JOIN products p ON p.product_id = od.product_id;

-- Freight shared over lines of an order
SELECT od.order_id, od.product_id, o.freight / COUNT(*) OVER (PARTITION BY od.order_id) AS share FROM order_details od JOIN orders o ON o.order_id = od.order_id;

-- Ship country of each order
SELECT ship_country FROM orders;

-- Title of every employee
SELECT title FROM employees;

-- How many orders does each region have, by the territories of the employee?
SELECT t.region_id, COUNT(DISTINCT o.order_id) FROM orders o JOIN employee_territories et ON et.employee_id = o.employee_id JOIN territories t ON t.territory_id = et.territory_id GROUP BY t.region_id;

-- Employees by city with customers
SELECT e.city, COUNT(DISTINCT e.employee_id) AS employees, COUNT(DISTINCT c.customer_id) AS customers FROM employees e LEFT JOIN customers c ON c.city = e.city GROUP BY e.city;

-- Price of the dearest product for each supplier with its name
SELECT s.company_name, p.product_name, p.unit_price FROM suppliers s JOIN products p ON p.supplier_id = s.supplier_id JOIN (SELECT supplier_id, MAX(unit_price) AS m FROM products GROUP BY supplier_id) x ON x.supplier_id = p.supplier_id AND x.m = p.unit_price;

-- Products bought together with Chai
SELECT DISTINCT p.product_name FROM order_details a JOIN products c ON c.product_id = a.product_id AND c.product_name = 'Chai' JOIN order_details b ON b.order_id = a.order_id AND b.product_id <> a.product_id JOIN products p ON p.product_id = b.product_id;

-- Products bought together with Chai, how often
SELECT p.product_name, COUNT(*) FROM order_details a JOIN products c ON c.product_id = a.product_id AND c.product_name = 'Chai' JOIN order_details b ON b.order_id = a.order_id AND b.product_id <> a.product_id JOIN products p ON p.product_id = b.product_id GROUP BY p.product_id, p.product_name;

-- Orders of the same customer on the same day
SELECT a.order_id, b.order_id FROM orders a JOIN orders b ON b.customer_id = a.customer_id AND b.order_date = a.order_date AND a.order_id < b.order_id;

-- Customers and suppliers by country
SELECT x.country, x.customers, y.suppliers FROM (SELECT country, COUNT(*) AS customers FROM customers GROUP BY country) x LEFT JOIN (SELECT country, COUNT(*) AS suppliers FROM suppliers GROUP BY country) y ON y.country = x.country;

-- All ordered quantities, for a histogram
SELECT quantity FROM order_details;

-- Lines with discount and the customer
SELECT c.company_name, od.discount FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN order_details od ON od.order_id = o.order_id WHERE od.discount > 0;

-- Total units on hand and ordered of products with a sale in 1998
SELECT SUM(p.units_in_stock + p.units_on_order) FROM products p WHERE p.product_id IN (SELECT od.product_id FROM order_details od JOIN orders o ON o.order_id = od.order_id WHERE SUBSTR(CAST(o.order_date AS VARCHAR), 1, 4) = '1998');

-- Number of order lines handled by each employee
SELECT e.last_name, COUNT(*) FROM employees e JOIN orders o ON o.employee_id = e.employee_id JOIN order_details od ON od.order_id = o.order_id GROUP BY e.employee_id, e.last_name;

-- Number of order lines by customer country
SELECT c.country, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.customer_id JOIN order_details od ON od.order_id = o.order_id GROUP BY c.country;

-- Late orders by customer, none shown as zero
SELECT c.company_name, COUNT(o.order_id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.customer_id AND o.shipped_date > o.required_date GROUP BY c.customer_id, c.company_name;

-- Revenue per employee per territory count
SELECT e.last_name, s.sales, t.n FROM employees e JOIN (SELECT o.employee_id, SUM(od.unit_price * od.quantity) AS sales FROM orders o JOIN order_details od ON od.order_id = o.order_id GROUP BY o.employee_id) s ON s.employee_id = e.employee_id JOIN (SELECT employee_id, COUNT(*) AS n FROM employee_territories GROUP BY employee_id) t ON t.employee_id = e.employee_id;
